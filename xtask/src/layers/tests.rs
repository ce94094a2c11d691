//! Good and bad samples of each rule, and the real workspace.

use super::*;

fn package(name: &str, edges: &[(&str, Section, &[&str])]) -> Package {
    let dependency = |(to, section, features): &(&str, Section, &[&str])| Dependency {
        package: format!("wardian-{to}"),
        section: *section,
        features: features.iter().map(|feature| (*feature).to_owned()).collect(),
    };
    Package {
        name: format!("wardian-{name}"),
        folder: format!("crates/{name}"),
        features: [("default".to_owned(), Vec::new())].into(),
        dependencies: edges.iter().map(dependency).collect(),
    }
}

fn messages(name: &str, edges: &[(&str, Section, &[&str])]) -> Vec<String> {
    check_package(&package(name, edges), "").into_iter().map(|f| f.message).collect()
}

#[test]
fn edges_of_the_table_pass() {
    let none: &[&str] = &[];
    for (name, edges) in [
        ("engine", vec![("durable", Section::Normal, none), ("blueprint", Section::Normal, none)]),
        ("redact", vec![("durable", Section::Normal, none)]),
        ("runstore", vec![("durable", Section::Normal, &["disk", "sqlite"][..])]),
        ("runstore", vec![("durable", Section::Dev, &["disk", "sim"][..])]),
        ("host", vec![("providers", Section::Normal, none), ("ledger", Section::Normal, none)]),
        (
            "tests",
            vec![("host", Section::Normal, none), ("durable", Section::Normal, &["sim"][..])],
        ),
        ("ledger", vec![("engine", Section::Dev, none)]),
        ("durable", vec![("durable", Section::Dev, &["sim"][..])]),
    ] {
        assert_eq!(messages(name, &edges), [""; 0], "{name}");
    }
}

#[test]
fn each_broken_edge_is_named() {
    let none: &[&str] = &[];
    for (name, edge, expected) in [
        (
            "blueprint",
            ("engine", Section::Normal, none),
            "blueprint may not use engine; it may use [durable]",
        ),
        (
            "engine",
            ("redact", Section::Normal, none),
            "engine may not use redact; it may use [durable, blueprint]",
        ),
        ("xtask", ("durable", Section::Normal, none), "xtask may not use durable; it may use []"),
        (
            "ledger",
            ("memory", Section::Normal, none),
            "ledger and memory share a layer and must not know each other",
        ),
        (
            "ledger",
            ("memory", Section::Dev, none),
            "ledger and memory share a layer and must not know each other",
        ),
        (
            "engine",
            ("runstore", Section::Dev, none),
            "tests of engine must not point up to runstore; put them in `tests`",
        ),
        (
            "engine",
            ("durable", Section::Normal, &["disk"]),
            "engine is pure and asks durable for no feature, not for disk",
        ),
        (
            "engine",
            ("durable", Section::Dev, &["sim"]),
            "engine is pure and asks durable for no feature, not for sim",
        ),
        (
            "runstore",
            ("durable", Section::Normal, &["disk", "sim"]),
            "runstore may not ask durable for sim",
        ),
        ("ledger", ("durable", Section::Build, &["disk"]), "ledger may not ask durable for disk"),
    ] {
        assert_eq!(messages(name, &[edge]), [expected]);
    }
}

#[test]
fn a_crate_needs_a_place_in_the_table() {
    assert!(messages("common", &[])[0].starts_with("crate common is not in the table"));
    let mut moved = package("engine", &[]);
    moved.folder = "crates/motor".to_owned();
    assert_eq!(check_package(&moved, "").len(), 1);
}

#[test]
fn durable_is_pure_by_default() {
    let mut durable = package("durable", &[]);
    assert!(check_package(&durable, "").is_empty());
    durable.features.insert("default".to_owned(), vec!["disk".to_owned()]);
    assert_eq!(check_package(&durable, "").len(), 1);
}

#[test]
fn the_finding_points_at_the_line_of_its_section() {
    let manifest = "[package]\n[dependencies]\nserde = \"1\"\nwardian-durable.workspace = true\n\n[dev-dependencies]\ndurable = { workspace = true }\n";
    let mut dependency =
        package("engine", &[("durable", Section::Normal, &[])]).dependencies.remove(0);
    assert_eq!(line_of(manifest, &dependency), 4);
    dependency.section = Section::Dev;
    assert_eq!(line_of(manifest, &dependency), 7);
    dependency.section = Section::Build;
    assert_eq!(line_of(manifest, &dependency), 1);
}

#[test]
fn types_of_other_crates_are_not_given_further() {
    let others = ["durable", "engine"];
    let found = |text: &str| re_exports(&Source::new("a.rs", text), &others).len();
    for bad in [
        "pub use durable::Seq;",
        "pub use ::durable::Seq;",
        "pub use durable;",
        "pub use {crate::a::{b, c}, engine::State};",
        "pub use engine::{a, b};",
        "pub extern crate engine;",
    ] {
        assert_eq!(found(bad), 1, "{bad}");
    }
    for good in [
        "use durable::Seq;",
        "pub(crate) use durable::Seq;",
        "pub use crate::durable::Seq;",
        "pub use self::engine::{durable, x};",
        "// pub use durable::Seq;",
        "pub fn durable() {} use engine::A;",
    ] {
        assert_eq!(found(good), 0, "{good}");
    }
}

#[test]
fn only_the_face_of_host_gives_types_further() {
    let host = package("host", &[("engine", Section::Normal, &[])]);
    let mut tree = Tree::default();
    for path in
        ["crates/host/src/api.rs", "crates/host/src/api/view.rs", "crates/host/src/apiary.rs"]
    {
        tree.files.insert(path.to_owned(), "pub use engine::RunView;\n".to_owned());
    }
    let findings = check_face(&host, &tree);
    let paths: Vec<&str> = findings.iter().map(|finding| finding.path.as_str()).collect();
    assert_eq!(paths, ["crates/host/src/apiary.rs"]);
}

#[test]
fn the_workspace_keeps_its_layers() {
    let findings = check(&tree::root()).expect("cargo metadata runs");
    let shown: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "\n{}", shown.join("\n"));
}
