//! `cargo xtask generate`: writes what is derived from source into the pages.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::cargo::{PROFILE, cargo};
use crate::metadata::Workspace;
use crate::tree::{self, Tree};
use crate::{formats, part};

/// Pages that the program itself writes, by the names that it has for them. A
/// test of the command line fails when one of them is stale.
const REFERENCE: [&str; 3] = ["node-types", "findings", "cli"];
const FOLDER: &str = "docs/reference";

const BUILD: [&str; 5] = ["build", "--quiet", "--package", "wardian-cli", "--bins"];

pub(crate) fn run() -> Result<ExitCode, String> {
    let root = tree::root();
    reference(&root)?;
    let tree = Tree::read(&root).map_err(|error| format!("cannot read the repository: {error}"))?;
    write(&root, formats::PAGE, &formats::renewed(&tree))?;
    Ok(ExitCode::SUCCESS)
}

/// Asks the program for its pages.
fn reference(root: &Path) -> Result<(), String> {
    let mut build = cargo(root, &BUILD);
    build.args(PROFILE);
    let built = part::output_of(build)?;
    if !built.passed {
        return Err(format!("the program does not build\n{}", built.output));
    }
    let program = Workspace::read(root)?.target.join("proof").join("wardian");
    for page in REFERENCE {
        let mut ask = Command::new(&program);
        ask.args(["__reference", page]);
        let text = part::output_of(ask)?;
        if !text.passed {
            return Err(format!("the program does not write {page}\n{}", text.output));
        }
        write(root, &format!("{FOLDER}/{page}.md"), &text.output)?;
    }
    Ok(())
}

fn write(root: &Path, page: &str, text: &str) -> Result<(), String> {
    let path = root.join(page);
    if fs::read_to_string(&path).is_ok_and(|old| old == text) {
        println!("{page}: up to date");
        return Ok(());
    }
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    let written = folder.and_then(|()| fs::write(&path, text));
    written.map_err(|error| format!("cannot write {page}: {error}"))?;
    println!("{page}: written");
    Ok(())
}
