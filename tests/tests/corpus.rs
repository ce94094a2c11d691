//! Homes of every version that wrote any still open, and their runs are what
//! they were.

use world::corpus::{expected, homes, replayed};

#[test]
fn every_run_that_was_ever_written_folds_to_the_state_that_it_had() {
    let homes = homes().unwrap();
    assert!(homes.len() > 30, "{} homes", homes.len());
    for home in homes {
        let now = replayed(&home).unwrap_or_else(|error| panic!("{}: {error}", home.display()));
        assert!(!now.is_empty(), "{}", home.display());
        assert_eq!(now, expected(&home).unwrap(), "{}", home.display());
    }
}
