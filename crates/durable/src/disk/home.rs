//! Where a home may be. Locks of the kernel and syncs keep their word on
//! local disks only, so a home on a network or in a folder that another
//! program synchronises is refused.

use std::path::{Component, Path, PathBuf};

use thiserror::Error;

/// Why a folder cannot be a home.
#[derive(Debug, Error)]
pub enum HomeError {
    #[error(
        "{path} is on a {system} file system, where locks and syncs cannot be relied on; \
         choose a home on a local disk",
        path = path.display()
    )]
    Network { path: PathBuf, system: &'static str },
    #[error(
        "{path} is inside `{folder}`, which another program synchronises and may change \
         or roll back; choose a home outside it",
        path = path.display()
    )]
    Synced { path: PathBuf, folder: String },
    #[error("cannot look at {path}", path = path.display())]
    Unknown {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

/// File systems of which other machines or programs see other states, by the
/// number that Linux gives them.
#[cfg(target_os = "linux")]
const NETWORK: [(u32, &str); 16] = [
    (0x0000_6969, "NFS"),
    (0x0000_517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x6573_5546, "FUSE"),
    (0x0102_1997, "9P"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x7375_7245, "Coda"),
    (0x00c3_6400, "Ceph"),
    (0x0000_564c, "NCP"),
    (0x0bd0_0bd0, "Lustre"),
    (0x4750_4653, "GPFS"),
    (0x0116_1970, "GFS2"),
    (0x7461_636f, "OCFS2"),
    (0x786f_4256, "VirtualBox shared"),
];

/// Names of folders that synchronising programs make, in lower case.
const SYNCED: [&str; 11] = [
    "dropbox",
    "onedrive",
    "icloud",
    "icloud drive",
    "iclouddrive",
    "com~apple~clouddocs",
    "google drive",
    "googledrive",
    "my drive",
    "nextcloud",
    "owncloud",
];

/// The same with an account behind it, as in `OneDrive - Company`.
const SYNCED_PREFIXES: [&str; 3] = ["onedrive - ", "dropbox (", "googledrive-"];

/// Refuses a home that is on a network or in a synchronised folder. `path`
/// need not exist. Gives the path with the links in its existing part
/// resolved, as all calls of a disk should use it.
pub fn refuse_network_home(path: &Path) -> Result<PathBuf, HomeError> {
    let resolved = resolve(path)?;
    for path in [path, resolved.as_path()] {
        if let Some(folder) = synced_folder(path) {
            return Err(HomeError::Synced { path: path.to_owned(), folder });
        }
    }
    match network(existing(&resolved))? {
        Some(system) => Err(HomeError::Network { path: resolved, system }),
        None => Ok(resolved),
    }
}

/// The first component that is known to be a synchronised folder.
fn synced_folder(path: &Path) -> Option<String> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            None
        }
    });
    let synced = |name: &str| {
        let lower = name.to_lowercase();
        SYNCED.contains(&lower.as_str())
            || SYNCED_PREFIXES.iter().any(|prefix| lower.starts_with(prefix))
    };
    names.into_iter().find(|name| synced(name)).map(std::borrow::Cow::into_owned)
}

/// The lowest folder of `path` that exists.
fn existing(path: &Path) -> &Path {
    path.ancestors().find(|part| part.exists()).unwrap_or_else(|| Path::new("."))
}

/// `path` with its existing part canonical.
fn resolve(path: &Path) -> Result<PathBuf, HomeError> {
    let unknown = |source| HomeError::Unknown { path: path.to_owned(), source };
    let path = std::path::absolute(path).map_err(unknown)?;
    let base = existing(&path);
    let canonical = base.canonicalize().map_err(unknown)?;
    match path.strip_prefix(base) {
        Ok(rest) if rest.as_os_str().is_empty() => Ok(canonical),
        Ok(rest) => Ok(canonical.join(rest)),
        Err(_) => Ok(path),
    }
}

#[cfg(target_os = "linux")]
fn network(path: &Path) -> Result<Option<&'static str>, HomeError> {
    let data = rustix::fs::statfs(path)
        .map_err(|error| HomeError::Unknown { path: path.to_owned(), source: error.into() })?;
    // The field is signed and its width differs; the numbers have 32 bits.
    let number = (i128::from(data.f_type) & 0xffff_ffff) as u32;
    Ok(network_name(number))
}

#[cfg(target_os = "linux")]
fn network_name(number: u32) -> Option<&'static str> {
    NETWORK.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}

#[cfg(not(target_os = "linux"))]
fn network(_path: &Path) -> Result<Option<&'static str>, HomeError> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(path: &Path) -> Option<String> {
        refuse_network_home(path).err().map(|error| error.to_string())
    }

    #[test]
    fn a_local_folder_is_fine_and_comes_back_resolved() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::os::unix::fs::symlink(&real, real.join("link")).unwrap();
        let resolved = |path: &str| refuse_network_home(&real.join(path)).unwrap();
        assert_eq!(resolved(""), real);
        assert_eq!(resolved("not/yet/there"), real.join("not/yet/there"));
        assert_eq!(resolved("link/home"), real.join("home"));
    }

    #[test]
    fn a_synchronised_folder_is_refused_by_name_wherever_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let names = [
            "Dropbox",
            "Dropbox (Work)",
            "OneDrive",
            "OneDrive - Company",
            "iCloud Drive",
            "com~apple~CloudDocs",
            "Google Drive",
            "GoogleDrive-me@example.org",
            "Nextcloud",
        ];
        for name in names {
            let text = refused(&folder.path().join(name).join("home")).unwrap();
            assert!(text.contains(&format!("inside `{name}`")), "{text}");
        }
        for name in ["dropbox-notes", "drive", "cloud", "my-onedrive"] {
            assert_eq!(refused(&folder.path().join(name)), None, "{name}");
        }
    }

    #[test]
    fn a_link_into_a_synchronised_folder_is_seen_through() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("Dropbox")).unwrap();
        let link = folder.path().join("plain");
        std::os::unix::fs::symlink(folder.path().join("Dropbox"), &link).unwrap();
        assert!(refused(&link.join("home")).is_some());
    }

    #[test]
    fn the_message_says_what_to_do() {
        let network = HomeError::Network { path: "/mnt/home".into(), system: "NFS" };
        let synced = HomeError::Synced { path: "/a/Dropbox/b".into(), folder: "Dropbox".into() };
        insta::assert_snapshot!(format!("{network}\n{synced}"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn network_file_systems_are_known_by_number_and_local_ones_are_not() {
        let name = |number| network_name(number);
        assert_eq!(
            [0x6969, 0xff53_4d42, 0x6573_5546].map(name),
            [Some("NFS"), Some("CIFS"), Some("FUSE")]
        );
        let (ext4, xfs, btrfs, tmpfs) = (0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994);
        assert_eq!([ext4, xfs, btrfs, tmpfs].map(name), [None; 4]);
    }
}
