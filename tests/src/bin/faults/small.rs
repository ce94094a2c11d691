//! A home on a disk of a few pages, which fills in the middle of a run.

use std::fs;
use std::path::Path;
use std::process::Command;

use world::life::Failure;
use world::real::trace::Errno;
use world::real::{Case, House, Point, patience};

/// Kibibytes of the disks that are tried, and of those in a short form.
const SIZES: std::ops::RangeInclusive<usize> = 8..=160;
const STEP: usize = 4;
const SHORT: [usize; 3] = [36, 64, 84];

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) tried: usize,
    pub(crate) wrong: Vec<String>,
}

/// Runs the long automation on disks of every size.
pub(crate) fn fill(short: bool) -> Result<Tally, Failure> {
    let house = House::build()?;
    let mut tally = Tally::default();
    let sizes: Vec<usize> = if short { SHORT.to_vec() } else { SIZES.step_by(STEP).collect() };
    for size in sizes {
        house.reset(None)?;
        let Some(disk) = Small::mount(&house.home, size)? else {
            println!("SKIPPED needs root, to mount a small disk");
            return Ok(tally);
        };
        tally.tried += 1;
        let filled = run(&house);
        // What is left is judged on a disk with room.
        let aside = house.file("aside");
        world::real::house::copy(&house.home, &aside)?;
        drop(disk);
        fs::remove_dir_all(&house.home)?;
        fs::rename(&aside, &house.home)?;
        if let Err(what) = filled.and_then(|()| house.judge_with(true)) {
            let what = world::oracle::chain(&*what);
            tally.wrong.push(format!("a disk of {size} KiB: {what}"));
        }
    }
    Ok(tally)
}

fn run(house: &House) -> Result<(), Failure> {
    let output = patience::output(&mut house.exec(&house.long()))?;
    house.wait_for_workers()?;
    let full = Point { call: "write".to_owned(), nth: 0, path: None };
    house.judge_words(Case::Exec, &full, (Errno::Full, false), &output)
}

/// A small disk, mounted as long as this lives.
#[derive(Debug)]
struct Small<'a>(&'a Path);

impl<'a> Small<'a> {
    fn mount(at: &'a Path, size: usize) -> Result<Option<Self>, Failure> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}k"), "tmpfs"]).arg(at);
        let mounted = mount.output()?.status.success();
        Ok(mounted.then_some(Self(at)))
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("--lazy").arg(self.0).status());
    }
}
