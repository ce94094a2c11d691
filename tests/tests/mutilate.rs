//! The proof program `mutilate` on a small log.

use world::mutilate::Whole;

#[test]
fn no_damage_of_a_run_is_believed() {
    let folder = tempfile::tempdir().unwrap();
    let whole = Whole::make(folder.path(), 4 << 10).unwrap();
    for harm in whole.harms(23) {
        assert_eq!(whole.judge(harm), Ok(()), "{harm:?}");
    }
}
