//! Whether a value looks like a secret. It is asked only where something else
//! speaks for it, a name or a scheme; no text is judged by its looks alone.
//! Pure.

use super::words;

/// The shortest password that is masked; shorter ones are mostly no passwords.
const PASSWORD_BYTES_MIN: usize = 4;
const SECRET_BYTES_MIN: usize = 12;
const KEY_BYTES_MIN: usize = 16;
/// Different bytes in a secret, at least.
const SECRET_VARIETY_MIN: usize = 6;
/// The longest word that a person writes, alone and among others.
const WORD_BYTES_MAX: usize = 18;
const JOINED_WORD_BYTES_MAX: usize = 24;

/// A password: nearly everything that is said to be one.
pub(super) fn is_password(value: &[u8], quoted: bool) -> bool {
    if value.len() < PASSWORD_BYTES_MIN || is_template(value) || is_path(value) {
        return false;
    }
    let first = value.split(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
    let no_value = if quoted { breaks_off(value) } else { is_code(value) };
    !no_value && !is_stand_in(first)
}

/// Whether the quote before this closes a text that ends in a name, as in
/// `find("PWD=").or("")`, rather than opening a value.
fn breaks_off(value: &[u8]) -> bool {
    value.first().is_some_and(|byte| b"),;]+ .".contains(byte))
}

/// A secret that a machine made.
pub(super) fn is_secret(value: &[u8], quoted: bool) -> bool {
    value.len() >= SECRET_BYTES_MIN && is_random(value) && (quoted || !is_code(value))
}

/// A secret even behind a name that says little: no digest, no id, no words.
pub(super) fn is_random_key(value: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    value.len() >= KEY_BYTES_MIN
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
        && !has(|byte| matches!(byte, b':' | b'.'))
        && is_random(value)
}

/// Whether chance rather than a person seems to have made this.
pub(super) fn is_random(value: &[u8]) -> bool {
    let plain = value.iter().all(u8::is_ascii_graphic);
    let mut seen = [false; 256];
    value.iter().for_each(|byte| seen[usize::from(*byte)] = true);
    let variety = seen.iter().filter(|seen| **seen).count();
    plain
        && variety >= SECRET_VARIETY_MIN
        && !is_stand_in(value)
        && !is_path(value)
        && !is_wordy(value)
        && !is_reference(value)
        && !value.iter().all(|byte| byte.is_ascii_digit() || b".,:+-".contains(byte))
}

/// A place that something else fills, or a value that is masked already.
pub(super) fn is_template(value: &[u8]) -> bool {
    let Some(first) = value.first() else { return true };
    let spec = *first == b'%' && matches!(value.get(1), Some(b's' | b'd' | b'v' | b'(' | b'{'));
    matches!(first, b'$' | b'{' | b'<') || spec || value.iter().all(|byte| byte == first)
}

/// A template, or a word that stands for a value.
pub(super) fn is_stand_in(value: &[u8]) -> bool {
    let end = value.iter().rposition(|byte| !b".,;:!?".contains(byte)).map_or(0, |at| at + 1);
    let word = value[..end].to_ascii_lowercase();
    is_template(value) || words::holds(words::STAND_INS, &word)
}

/// Words, and numbers as people write them: `release-2024-notes`, `MyLongName`.
pub(super) fn is_wordy(value: &[u8]) -> bool {
    let (mut words, mut letters, mut numerals, mut longest) = (0, 0, 0, 0);
    for part in value.split(|byte| !byte.is_ascii_alphanumeric()) {
        let digits = part.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let name = &part[..part.len() - digits];
        if !name.iter().all(u8::is_ascii_alphabetic) || (!name.is_empty() && digits > 3) {
            return false;
        }
        if digits > 8 {
            return false;
        }
        let humps = humps(name);
        longest = humps.iter().copied().fold(longest, usize::max);
        words += humps.len();
        letters += name.len();
        numerals += digits;
    }
    let longest_max = if words < 2 { WORD_BYTES_MAX } else { JOINED_WORD_BYTES_MAX };
    let few_numerals = words == 0 || numerals * 2 <= letters + 4;
    longest <= longest_max && few_numerals && (words < 2 || letters >= words * 3)
}

/// The lengths of the words in a run of letters, divided where a capital
/// follows a small letter.
fn humps(letters: &[u8]) -> Vec<usize> {
    let mut humps = Vec::new();
    let mut small = true;
    for byte in letters {
        match humps.last_mut() {
            Some(length) if !(small && byte.is_ascii_uppercase()) => *length += 1,
            Some(_) | None => humps.push(1),
        }
        small = byte.is_ascii_lowercase();
    }
    humps
}

/// A place in a file system. What begins with a slash is one only if its first
/// part is a word: keys in base64 begin with a slash too.
fn is_path(value: &[u8]) -> bool {
    let drive = value.len() > 2 && value[0].is_ascii_alphabetic() && value[1] == b':';
    if drive && matches!(value[2], b'\\' | b'/') {
        return true;
    }
    if [&b"~/"[..], b"./", b"../"].iter().any(|start| value.starts_with(start)) {
        return true;
    }
    let Some(rest) = value.strip_prefix(b"/") else { return false };
    let first = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
    let rooted = rest.len() > first.len();
    rooted && !first.is_empty() && is_wordy(first) && humps(first).len() < 2
}

fn is_reference(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    words::REFERENCES.split(' ').any(|start| lower.starts_with(start.as_bytes()))
        || value.windows(3).any(|three| three == b"://")
}

/// An expression of a program: `config.auth.password`, `std::env::var`.
fn is_code(value: &[u8]) -> bool {
    if value.windows(2).any(|two| two == b"::") {
        return true;
    }
    let name = |part: &[u8]| {
        part.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
            && part.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            && is_wordy(part)
    };
    value.contains(&b'.') && value.split(|byte| *byte == b'.').all(name)
}

/// The credentials of the `Basic` scheme: base64 of `user:password`.
pub(super) fn is_basic(value: &[u8]) -> bool {
    let mut text = Vec::new();
    let (mut bits, mut have) = (0_u32, 0_u32);
    for byte in value.iter().take_while(|byte| **byte != b'=') {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return false,
        };
        bits = (bits << 6 | u32::from(six)) & 0xFFFF;
        have += 6;
        if have >= 8 {
            have -= 8;
            text.push((bits >> have & 0xFF) as u8);
        }
    }
    text.contains(&b':') && text.iter().all(|byte| (b' '..0x7F).contains(byte) || *byte > 0x7F)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_names_are_no_secrets() {
        for value in [
            "authentication-required",
            "my-application-secret-name",
            "MyLongSecretName",
            "release-2024-notes",
            "getTokenFromStore",
            "prod/db/main",
            "sha256:0a1b2c3d4e5f6a7b",
            "/etc/ssl/private/site.pem",
            "https://vault.example/v1",
            "20261130210803",
            "${TOKEN_FROM_ENV}",
            "<your-token-here>",
            "xxxxxxxxxxxxxxxx",
            "process.env.TOKEN",
        ] {
            assert!(!is_secret(value.as_bytes(), false), "{value}");
        }
    }

    #[test]
    fn what_chance_made_is_a_secret() {
        for value in [
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "/wJalrXUtnFEMI/K7MDENG/bPxRfiCY",
            "0a1b2c3d4e5f6a7b8c9d",
            "3f2b8c1e-77aa-4b6f-9c3d-0a1b2c3d4e5f",
            "kjhgfdsaqwertyuiopzx",
            "Zx9!kQ2$mP7&",
            "a8f5f167f44f",
            "abcd-1234-EFGH-5678-zz99",
        ] {
            assert!(is_secret(value.as_bytes(), false), "{value}");
        }
    }

    #[test]
    fn a_password_may_be_short_and_a_word() {
        for value in ["hunter2", "swordfish", "/x1y2z3", "/aB3dE5", "correct horse", "1234"] {
            assert!(is_password(value.as_bytes(), true), "{value}");
        }
        for value in ["", "abc", "required", "Missing.", "****", "$PW", "/etc/passwd", "~/.pw"] {
            assert!(!is_password(value.as_bytes(), true), "{value}");
        }
    }

    #[test]
    fn the_basic_scheme_is_told_from_the_word() {
        assert!(is_basic(b"YTpi"));
        assert!(is_basic(b"dXNlcjpwYXNz"));
        for word in ["authentication", "auth", "usage", "", "research"] {
            assert!(!is_basic(word.as_bytes()), "{word}");
        }
    }
}
