//! What is said before anything is done.

use crate::house::{House, hello};

#[test]
fn help_is_the_same_as_ever() {
    let house = House::new();
    let commands: [&[&str]; 9] = [
        &["--help"],
        &["automation", "--help"],
        &["automation", "exec", "--help"],
        &["run", "--help"],
        &["run", "retry", "--help"],
        &["run", "view", "--help"],
        &["run", "list", "--help"],
        &["run", "prune", "--help"],
        &["run", "export", "--help"],
    ];
    let mut all = String::new();
    for command in commands {
        let said = house.run(command);
        assert_eq!((said.code, &said.talk[..]), (0, ""));
        all.push_str(&format!("$ wardian {}\n{}\n", command.join(" "), said.out));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn wrong_arguments_exit_with_64() {
    let house = House::new();
    let commands: [&[&str]; 6] = [
        &[],
        &["nonsense"],
        &["run"],
        &["run", "view", "x"],
        &["run", "list", "--status", "done"],
        &["automation", "exec", "x.md", "--bind", "role:x"],
    ];
    for command in commands {
        let said = house.run(command);
        assert_eq!((said.code, &said.out[..]), (64, ""), "{command:?}");
        assert!(!said.talk.is_empty());
        let said = house.run(&[command, &["--json"]].concat());
        assert_eq!((said.code, said.error_code().as_str()), (64, "invalid_arguments"));
    }
    assert!(!house.home().exists(), "nothing was made");
}

#[test]
fn the_version_is_a_line() {
    let said = House::new().run(&["--version"]);
    assert_eq!(said.out, format!("wardian {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_home_is_where_the_flag_or_the_environment_says() {
    let house = House::new();
    house.write("hello.md", hello());
    let other = house.work().join("other home");
    let mut command = house.command(&["automation", "exec", "hello.md", "--input", "{\"who\":1}"]);
    command.env("WARDIAN_HOME", &other);
    assert_eq!(crate::house::finish(house.start(command)).status.code(), Some(0));
    let listed = house.json(&["run", "list", "--home", other.to_str().unwrap()]);
    assert_eq!(listed["runs"].as_array().unwrap().len(), 1);
    assert_eq!(house.json(&["run", "list"])["runs"].as_array().unwrap().len(), 0);
}

#[test]
fn every_shell_gets_its_completions() {
    let house = House::new();
    for shell in ["bash", "zsh", "fish"] {
        let said = house.run(&["completion", shell]);
        assert_eq!(said.code, 0);
        assert!(said.out.contains("automation"), "{shell}");
    }
}

#[test]
fn color_comes_only_when_it_is_asked_for() {
    let house = House::new();
    house.write("bad.md", "---\nschema: 2\n---\n");
    let colored = |args: &[&str], env: &[(&str, &str)]| {
        let mut command = house.command(&[&["automation", "validate", "bad.md"], args].concat());
        command.envs(env.iter().copied());
        let output = crate::house::finish(house.start(command));
        output.stdout.contains(&0x1b)
    };
    assert!(!colored(&[], &[]));
    assert!(colored(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(colored(&[], &[("CLICOLOR_FORCE", "1"), ("TERM", "xterm")]));
    assert!(!colored(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

#[test]
fn a_worker_cannot_be_called_by_hand() {
    let house = House::new();
    let said = house.run(&["__worker", "/nowhere/at/all", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (8, "invalid_request"));
}

#[test]
fn every_command_has_a_page_of_the_manual() {
    let house = House::new();
    let said = house.run(&["man", "--output", "pages", "--json"]);
    assert_eq!((said.code, &said.talk[..]), (0, ""));
    let document = said.json();
    let pages: Vec<&str> =
        document["pages"].as_array().unwrap().iter().map(|page| page.as_str().unwrap()).collect();
    assert!(pages.contains(&"pages/wardian-automation-exec.1"), "{pages:?}");
    assert!(!pages.iter().any(|page| page.contains("__worker")), "{pages:?}");
    let page = std::fs::read_to_string(house.work().join("pages/wardian-run-logs.1")).unwrap();
    assert!(page.contains("wardian run logs") && page.contains("follow"), "{page}");
    assert_eq!(house.run(&["man", "--output", "pages"]).out.lines().count(), pages.len());
    house.write("file", "");
    let said = house.run(&["man", "--output", "file", "--json"]);
    assert_eq!((said.code, said.error_code().as_str()), (4, "store_unavailable"));
}
