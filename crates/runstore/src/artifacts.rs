//! Outputs too large for an event, kept by digest: the name proves the
//! content, so putting the same bytes twice keeps them once.

use durable::Digest;
use durable::disk::{Disk, DiskError, create_dir_all, replace};
use durable::entropy::Entropy;
use thiserror::Error;

use crate::layout::RunPlace;
use crate::limits;

#[derive(Debug, Error)]
pub enum ArtifactError {
    #[error("an artifact has at most {max} bytes, this one has {0}", max = limits::ARTIFACT_BYTES)]
    TooLarge(u64),
    #[error("the artifact {0} is absent")]
    Absent(Digest),
    #[error("the artifact {expected} holds other bytes ({found}); restore it from a backup")]
    Changed { expected: Digest, found: Digest },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Keeps the bytes and gives their name. Durable on return.
pub fn put(
    disk: &dyn Disk,
    place: &RunPlace,
    bytes: &[u8],
    entropy: &dyn Entropy,
) -> Result<Digest, ArtifactError> {
    if bytes.len() as u64 > limits::ARTIFACT_BYTES {
        return Err(ArtifactError::TooLarge(bytes.len() as u64));
    }
    let digest = Digest::of(bytes);
    create_dir_all(disk, &place.artifacts())?;
    match get(disk, place, digest) {
        Ok(_) => {
            disk.sync_dir(&place.artifacts())?;
            Ok(digest)
        }
        // One that no longer is what its name says is made whole again.
        Err(ArtifactError::Absent(_) | ArtifactError::Changed { .. }) => {
            replace(disk, &place.artifact(digest), bytes, &entropy.hex8())?;
            Ok(digest)
        }
        Err(error) => Err(error),
    }
}

/// The bytes of that name, checked.
pub fn get(disk: &dyn Disk, place: &RunPlace, digest: Digest) -> Result<Vec<u8>, ArtifactError> {
    let path = place.artifact(digest);
    if disk.stat(&path)?.is_none() {
        return Err(ArtifactError::Absent(digest));
    }
    let bytes = disk.read(&path, limits::ARTIFACT_BYTES)?;
    let found = Digest::of(&bytes);
    if found != digest {
        return Err(ArtifactError::Changed { expected: digest, found });
    }
    Ok(bytes)
}

/// All artifacts of a run, by name. Other files in the folder are left out.
pub fn list(disk: &dyn Disk, place: &RunPlace) -> Result<Vec<Digest>, DiskError> {
    let folder = place.artifacts();
    if disk.stat(&folder)?.is_none() {
        return Ok(Vec::new());
    }
    let digest = |name: &String| name.parse().ok().filter(|digest: &Digest| digest.hex() == *name);
    Ok(disk.list(&folder)?.iter().filter_map(digest).collect())
}
