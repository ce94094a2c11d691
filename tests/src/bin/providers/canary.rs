//! What is planted: two secrets that the run knows, in all their forms, and
//! one text of every kind that only looks like a secret. None of it may be in
//! anything that is ours. A `·` in a text is left out before it is used: no
//! file of this repository holds what looks like a secret.

use std::fs;
use std::path::{Path, PathBuf};

use crate::house::Verdict;

/// The variable of a secret that no provider is given.
const PLANTED: &str = "PLANTED_TOKEN";

/// What a person's own secret is. Each of its forms writes something of it
/// otherwise.
const SECRET: &str = "pl4nted/\"k7Wq9xZ3mB+é~";

/// The same for a credential, which a header of HTTP must be able to hold.
const CREDENTIAL: &str = "cr3dential/\"h5Tn8vQ2sL+~";

/// A text of each kind, and the part of it that tells.
const KINDS: &[(&str, &str)] = &[
    ("sk-·ant-api03-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA-abcAA", "Zm9vYmFyYmF6"),
    ("sk-·proj-abcDEF123_ghiJKL456-mnoPQR789", "abcDEF123_ghi"),
    ("AKIA·IOSFODNN7EXAMPLE", "IOSFODNN7"),
    ("ghp_·16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F"),
    ("glpat-·xY3z-9aB_cD4eF5gH6iJ", "xY3z-9aB"),
    ("AIza·SyA1b2C3d4E5f6G7h8I9j0KlMnOpQrStUvW", "SyA1b2C3"),
    ("sk_live·_4eC39HqLyjWDarjtT1zdp7dc", "4eC39HqL"),
    ("xoxb-·123456789012-abcdefGHIJKL", "123456789012-abc"),
    ("npm_·abcdefGHIJKL0123456789mnopqrSTUVWX", "GHIJKL0123"),
    ("hf_·abcdEFGHijklMNOPqrstUVWXyz0123", "EFGHijklMN"),
    ("pypi-·AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtNDAwMC04MDAw", "AgEIcHlwaS5v"),
    ("eyJ·hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0", "dozjgNry"),
    (
        "-----BEGIN ·PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END ·PRIVATE KEY-----",
        "MIIEvQIBADAN",
    ),
    ("Cookie: sid=kx8Wq2·Zr4Lw7; theme=dark", "kx8Wq2Zr4"),
    ("https://bot:s3cr·etpw9@git.example/x.git", "s3cretpw9"),
    ("Authorization: Bearer q1w2e3·r4t5y6u7i8", "q1w2e3r4"),
    ("DB_PASSWORD=hunt3r·2xyz", "hunt3r2xyz"),
    ("client_secret=a1b2c3d4·e5f6g7h8", "a1b2c3d4e5"),
];

pub(crate) struct Canary {
    credential_name: &'static str,
}

impl Canary {
    pub(crate) fn of(provider: &str) -> Self {
        let credential_name = match provider {
            // Only who is subscribed is told of a limit with its reset.
            "claude" => "CLAUDE_CODE_OAUTH_TOKEN",
            "codex" => "FAKE_KEY",
            "gemini" => "GEMINI_API_KEY",
            _ => "OPENAI_API_KEY",
        };
        Self { credential_name }
    }

    pub(crate) fn env(&self) -> impl Iterator<Item = (String, String)> + use<> {
        let pairs = [(PLANTED, SECRET), (self.credential_name, CREDENTIAL)];
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()))
    }

    /// All of it, one a line: the secrets in each encoding, and the kinds plain
    /// and as they stand in a string of JSON.
    pub(crate) fn text() -> String {
        let kinds = KINDS.iter().map(|(text, _)| text.replace('·', ""));
        let kinds: Vec<String> = kinds.collect();
        let escaped = kinds.iter().map(|text| json(text));
        let forms = [SECRET, CREDENTIAL].into_iter().flat_map(forms);
        let all: Vec<String> = forms.chain(kinds.clone()).chain(escaped).collect();
        format!("This is what I found:\n{}\nThat is all.", all.join("\n"))
    }

    /// Texts that nothing of ours may hold: of each form both halves, since
    /// half of a secret is too much too.
    fn forbidden() -> Vec<String> {
        let forms = [SECRET, CREDENTIAL].into_iter().flat_map(forms);
        let halves = forms.flat_map(|form| {
            let chars: Vec<char> = form.chars().collect();
            // The letters at the borders of base64 tell of what stands around it.
            let inside = &chars[4..chars.len() - 4];
            let (first, second) = inside.split_at(inside.len() / 2);
            [first, second].map(|half| half.iter().collect::<String>())
        });
        halves.chain(KINDS.iter().map(|(_, part)| (*part).to_owned())).collect()
    }
}

/// Looks through every file below these places: how many there are.
pub(crate) fn search(places: &[PathBuf]) -> Result<usize, String> {
    let forbidden = Canary::forbidden();
    let mut files = Vec::new();
    for place in places.iter().filter(|place| place.exists()) {
        gather(place, &mut files).map_err(|error| format!("{}: {error}", place.display()))?;
    }
    for file in &files {
        let bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let found = forbidden
            .iter()
            .find(|text| bytes.windows(text.len()).any(|part| part == text.as_bytes()));
        if let Some(text) = found {
            return Err(format!("{text:?} stands in {}", file.display()));
        }
    }
    Ok(files.len())
}

/// What was planted is nowhere, and what stands in its place is.
pub(crate) fn is_masked(text: &str) -> Verdict {
    for mark in ["[redacted:PLANTED_TOKEN]", "[redacted github_token]", "[redacted private_key]"] {
        if !text.contains(mark) {
            return Err(format!("there is no {mark} in {text:.300}"));
        }
    }
    Ok(format!("two secrets in six encodings and {} kinds are masked", KINDS.len()))
}

/// Plain, in JSON, base64 at its three places, hex, and in a URL.
fn forms(secret: &str) -> Vec<String> {
    let bytes = secret.as_bytes();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let url = bytes.iter().map(|byte| match byte.is_ascii_alphanumeric() {
        true => char::from(*byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    vec![
        secret.to_owned(),
        json(secret),
        base64(bytes),
        base64(&[b"x", bytes].concat()),
        base64(&[b"xy", bytes].concat()),
        hex.to_uppercase(),
        hex,
        url.collect(),
    ]
}

fn json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let three = chunk.iter().chain([&0; 2]).take(3);
        let word = three.fold(0_usize, |word, byte| word << 8 | usize::from(*byte));
        text.extend((0..=chunk.len()).map(|at| char::from(LETTERS[word >> (18 - 6 * at) & 63])));
    }
    text
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            gather(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}
