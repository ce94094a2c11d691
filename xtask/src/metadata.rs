//! The packages of the workspace and what they ask of each other, read from
//! `cargo metadata`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cargo::cargo;

/// The workspace as cargo sees it.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) packages: Vec<Package>,
    pub(crate) target: PathBuf,
}

/// One package of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Package {
    /// As cargo names it: `wardian-engine`.
    pub(crate) name: String,
    /// Its folder, relative to the root: `crates/engine`.
    pub(crate) folder: String,
    pub(crate) features: BTreeMap<String, Vec<String>>,
    /// On other packages of ours only.
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) package: String,
    pub(crate) section: Section,
    pub(crate) features: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Normal,
    Build,
    Dev,
}

impl Workspace {
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let output = cargo(root, &["metadata", "--no-deps", "--format-version", "1"])
            .output()
            .map_err(|error| format!("cargo does not start: {error}"))?;
        if !output.status.success() {
            return Err(format!(
                "cargo metadata failed\n{}",
                String::from_utf8_lossy(&output.stderr)
            ));
        }
        let json = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("cargo metadata is not JSON: {error}"))?;
        Self::from_json(&json).ok_or_else(|| "cargo metadata has an unknown shape".to_owned())
    }

    pub(crate) fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }

    fn from_json(json: &Value) -> Option<Self> {
        let root = json.get("workspace_root")?.as_str()?;
        let packages: Vec<&Value> = json.get("packages")?.as_array()?.iter().collect();
        let ours: Vec<&str> = packages.iter().filter_map(|package| name(package)).collect();
        let mut packages =
            packages.iter().map(|json| package(json, root, &ours)).collect::<Option<Vec<_>>>()?;
        packages.sort_by(|a, b| a.name.cmp(&b.name));
        Some(Self { packages, target: json.get("target_directory")?.as_str()?.into() })
    }
}

fn package(json: &Value, root: &str, ours: &[&str]) -> Option<Package> {
    let manifest = Path::new(json.get("manifest_path")?.as_str()?);
    let folder = manifest.parent()?.strip_prefix(root).ok()?.to_str()?.to_owned();
    let features = json.get("features")?.as_object()?;
    let dependencies = json.get("dependencies")?.as_array()?;
    Some(Package {
        name: name(json)?.to_owned(),
        folder,
        features: features.iter().map(|(name, on)| (name.clone(), strings(on))).collect(),
        dependencies: dependencies
            .iter()
            .filter(|dependency| name(dependency).is_some_and(|name| ours.contains(&name)))
            .map(dependency)
            .collect::<Option<_>>()?,
    })
}

fn dependency(json: &Value) -> Option<Dependency> {
    let section = match json.get("kind")?.as_str() {
        None => Section::Normal,
        Some("dev") => Section::Dev,
        Some("build") => Section::Build,
        Some(_) => return None,
    };
    let features = strings(json.get("features")?);
    Some(Dependency { package: name(json)?.to_owned(), section, features })
}

fn name(json: &Value) -> Option<&str> {
    json.get("name")?.as_str()
}

fn strings(json: &Value) -> Vec<String> {
    json.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_and_the_edges_between_them_are_read() {
        let json = serde_json::json!({
            "workspace_root": "/r",
            "target_directory": "/r/target",
            "packages": [
                { "name": "wardian-b", "manifest_path": "/r/crates/b/Cargo.toml", "features": {},
                  "dependencies": [
                    { "name": "wardian-a", "kind": null, "features": ["disk"] },
                    { "name": "wardian-a", "kind": "dev", "features": [] },
                    { "name": "serde", "kind": null, "features": [] } ] },
                { "name": "wardian-a", "manifest_path": "/r/crates/a/Cargo.toml",
                  "features": { "default": [], "disk": ["dep:x"] }, "dependencies": [] },
            ],
        });
        let workspace = Workspace::from_json(&json).expect("it has the shape");
        let names: Vec<&str> = workspace.packages.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["wardian-a", "wardian-b"]);
        assert_eq!(workspace.packages[0].features["disk"], ["dep:x"]);
        let b = workspace.package("wardian-b").expect("it is there");
        assert_eq!(b.folder, "crates/b");
        let sections: Vec<Section> = b.dependencies.iter().map(|d| d.section).collect();
        assert_eq!(sections, [Section::Normal, Section::Dev]);
        assert_eq!(b.dependencies[0].features, ["disk"]);
    }

    #[test]
    fn another_shape_is_refused() {
        assert!(Workspace::from_json(&serde_json::json!({ "packages": [] })).is_none());
    }
}
