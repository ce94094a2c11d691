//! `cargo xtask generate`: writes what is derived from source into the pages.

use std::fs;
use std::process::ExitCode;

use crate::formats;
use crate::tree::{self, Tree};

pub(crate) fn run() -> Result<ExitCode, String> {
    let root = tree::root();
    let tree = Tree::read(&root).map_err(|error| format!("cannot read the repository: {error}"))?;
    let page = formats::renewed(&tree);
    if tree.text(formats::PAGE) == Some(page.as_str()) {
        println!("{}: up to date", formats::PAGE);
    } else {
        fs::write(root.join(formats::PAGE), page)
            .map_err(|error| format!("cannot write {}: {error}", formats::PAGE))?;
        println!("{}: written", formats::PAGE);
    }
    Ok(ExitCode::SUCCESS)
}
