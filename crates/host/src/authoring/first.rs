//! The first automation of a repository: what is found there, as a blueprint
//! that works as it is. Nothing is started, and nothing of the repository is
//! changed.

use std::fs;
use std::path::{Path, PathBuf};

use providers::HostEnv;

use super::templates::FIRST;
use crate::Host;
use crate::api::authoring::{FirstAutomation, FirstRequest, NewAutomation};
use crate::api::{Code, HostError};

/// A file that says what a repository is, and how its tests are run.
const TESTS: [(&str, &str); 8] = [
    ("Cargo.toml", "cargo test --quiet"),
    ("go.mod", "go test ./..."),
    ("package.json", "npm test --silent"),
    ("pyproject.toml", "python3 -m pytest --quiet"),
    ("pytest.ini", "python3 -m pytest --quiet"),
    ("pom.xml", "mvn --quiet test"),
    ("mix.exs", "mix test"),
    ("Makefile", "make test"),
];

/// As much of a file as is looked through for its tests.
const LOOKED_AT: u64 = 1 << 20;

impl Host {
    /// Writes the first automation for the repository in which the caller
    /// stands.
    pub fn init(&self, request: &FirstRequest) -> Result<FirstAutomation, HostError> {
        let repository = repository_of(&self.config.current_dir)?;
        let agents = self.agents()?;
        let installed = agents.installed(&HostEnv::new(std::env::vars_os()));
        let found: Vec<String> = installed.iter().map(|name| name.word().to_owned()).collect();
        let provider = match &request.provider {
            Some(name) if found.contains(name) => Some(name.clone()),
            Some(name) => {
                let message = format!("provider `{name}` is not installed");
                return Err(HostError::new(Code::ProviderUnavailable, message)
                    .hint("`wardian provider list` shows what there is"));
            }
            None => found.first().cloned(),
        };
        let id = request.id.clone().unwrap_or_else(|| id_of(&repository));
        let name = super::new::name_of(&id);
        let tests = tests_of(&repository);
        let text = FIRST.fill(&id, &name);
        let text = filled(&text, provider.as_deref(), tests);
        let path = self.write_new(&id, request.file.as_deref(), text.into_bytes())?;
        let new =
            NewAutomation { id, path, name, input: FIRST.input, needs_agent: provider.is_none() };
        Ok(FirstAutomation { new, repository, provider, found, tests: tests.map(str::to_owned) })
    }
}

fn repository_of(folder: &Path) -> Result<PathBuf, HostError> {
    let folder = folder.ancestors().find(|folder| folder.join(".git").exists());
    folder.map(Path::to_owned).ok_or_else(|| {
        HostError::new(Code::InvalidRequest, "this folder is in no git repository")
            .hint("change to one, or begin with `wardian automation new ID`")
    })
}

/// The command that runs the tests, where a file tells that there are some.
fn tests_of(repository: &Path) -> Option<&'static str> {
    let tells = |(file, _): &&(&str, &str)| {
        let path = repository.join(file);
        let small = || fs::metadata(&path).is_ok_and(|file| file.len() <= LOOKED_AT);
        let text = || small().then(|| fs::read_to_string(&path).ok()).flatten().unwrap_or_default();
        match *file {
            "package.json" => text().contains("\"test\""),
            "Makefile" => text().lines().any(|line| line.starts_with("test:")),
            _ => path.is_file(),
        }
    };
    TESTS.iter().find(tells).map(|(_, command)| *command)
}

/// The template with what was found; without it, without its lines.
fn filled(text: &str, provider: Option<&str>, tests: Option<&str>) -> String {
    let line = |line: &str| {
        let (word, found) = match () {
            () if line.contains("PROVIDER") => ("PROVIDER", provider),
            () if line.contains("TESTS") => ("TESTS", tests),
            () => return Some(format!("{line}\n")),
        };
        found.map(|found| format!("{}\n", line.replace(word, found)))
    };
    text.lines().filter_map(line).collect()
}

/// The name of the folder, in the letters that an id may have.
fn id_of(repository: &Path) -> String {
    let name = repository.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let letters = name.chars().map(|c| match c {
        c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
        _ => '-',
    });
    let name: String = letters.collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "first".to_owned() } else { format!("{name}-first") }
}

#[cfg(test)]
mod tests {
    use blueprint::{format, lint};

    use super::*;

    #[test]
    fn with_or_without_an_agent_and_tests_it_is_valid_and_laid_out() {
        for provider in [None, Some("claude")] {
            for tests in [None, Some("cargo test --quiet")] {
                let text = filled(&FIRST.fill("my-own", "My own"), provider, tests);
                let checked = lint(text.as_bytes());
                assert!(checked.findings.is_empty(), "{:?}\n{text}", checked.findings);
                let laid = String::from_utf8(format(text.as_bytes()).unwrap()).unwrap();
                assert_eq!(laid, text);
                assert_eq!(text.contains("provider:"), provider.is_some());
                assert_eq!(text.contains("cargo test"), tests.is_some());
                assert!(!text.contains("TESTS") && !text.contains("TITLE"), "{text}");
            }
        }
    }

    #[test]
    fn an_id_is_made_of_any_folder() {
        let id = |path: &str| id_of(Path::new(path));
        assert_eq!(id("/home/ada/My Tool_2"), "my-tool-2-first");
        assert_eq!(id("/"), "first");
        assert_eq!(id("/work/…"), "first");
    }

    #[test]
    fn tests_are_found_by_the_files_that_tell_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        assert_eq!(tests_of(folder.path()), None);
        put("Makefile", "all:\n\techo\n");
        put("package.json", "{}");
        assert_eq!(tests_of(folder.path()), None);
        put("Makefile", "test: all\nall:\n\techo\n");
        assert_eq!(tests_of(folder.path()), Some("make test"));
        put("package.json", "{\"scripts\": {\"test\": \"node --test\"}}");
        assert_eq!(tests_of(folder.path()), Some("npm test --silent"));
        put("Cargo.toml", "");
        assert_eq!(tests_of(folder.path()), Some("cargo test --quiet"));
    }
}
