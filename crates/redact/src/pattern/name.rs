//! What the name before a value says about it: `api_key`, `DB_PASSWORD`,
//! `x-auth-token`, `secretAccessKey`, and those that only sound alike. Pure.

use super::words;

/// What stands behind a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A person may have chosen it: short, or made of words.
    Password,
    /// A machine made it: long and random.
    Secret,
    /// Some key, secret only if it looks very much like one.
    Key,
    Authorization,
    Cookie,
}

/// What a name says, or nothing where it names no secret.
pub(super) fn meaning(name: &[u8]) -> Option<Meaning> {
    if !may_mean(name) {
        return None;
    }
    let parts = parts(name);
    let (last, before) = parts.split_last()?;
    let before = before.last().map(String::as_bytes);
    let is_before = |list| before.is_some_and(|word| words::holds(list, word));
    match last.as_str() {
        "authorization" => return Some(Meaning::Authorization),
        "cookie" => return Some(Meaning::Cookie),
        "pass" | "pw" => return is_before(words::OWNERS).then_some(Meaning::Password),
        "key" if is_before(words::HARMLESS) => return None,
        "key" => {
            let telling = before.is_some_and(|word| words::ends(words::SECRET_KEYS, word));
            return Some(if telling { Meaning::Secret } else { Meaning::Key });
        }
        _ => {}
    }
    if words::ends(words::PASSWORDS, last.as_bytes()) {
        return Some(Meaning::Password);
    }
    let word = last.as_bytes();
    let is_key = word.strip_suffix(b"key").is_some_and(|w| words::holds(words::SECRET_KEYS, w));
    let harmless = is_before(words::HARMLESS)
        || word.strip_suffix(b"token").is_some_and(|w| words::holds(words::HARMLESS, w));
    ((is_key || words::ends(words::SECRETS, word)) && !harmless).then_some(Meaning::Secret)
}

/// A glance at the last letters, for nearly every word of a text is no name.
fn may_mean(name: &[u8]) -> bool {
    let Some(end) = name.last_chunk::<3>() else { return false };
    let telling = matches!(
        &end.map(|byte| byte.to_ascii_lowercase()),
        b"key"
            | b"ken"
            | b"ret"
            | b"ord"
            | b"swd"
            | b"pwd"
            | b"ase"
            | b"ode"
            | b"ort"
            | b"ass"
            | b"ial"
            | b"als"
            | b"ion"
            | b"kie"
            | [_, b'p', b'w']
    );
    telling && words::ends(words::ENDINGS, name)
}

/// The words of a name in lower case: divided by signs, and where capitals
/// begin (`apiKey`, `APIKey`).
fn parts(name: &[u8]) -> Vec<String> {
    let mut parts = vec![String::new()];
    for (index, byte) in name.iter().enumerate() {
        if !byte.is_ascii_alphanumeric() {
            parts.push(String::new());
            continue;
        }
        let before = index.checked_sub(1).map(|index| name[index]);
        let hump = byte.is_ascii_uppercase()
            && before.is_some_and(|before| {
                let small_follows = name.get(index + 1).is_some_and(u8::is_ascii_lowercase);
                !before.is_ascii_uppercase() || small_follows
            });
        if hump {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push(char::from(byte.to_ascii_lowercase()));
        }
    }
    let ends_in_sign = parts.last().is_some_and(String::is_empty);
    parts.retain(|part| !part.is_empty());
    if ends_in_sign { Vec::new() } else { parts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_passwords_and_secrets_are_known_in_every_spelling() {
        for name in ["password", "DB_PASSWORD", "userPassword", "dbpasswd", "smtp-pass", "Pwd"] {
            assert_eq!(meaning(name.as_bytes()), Some(Meaning::Password), "{name}");
        }
        let names = "api_key apiKey APIKey x-api-key AWS_SECRET_ACCESS_KEY SecretAccessKey \
            authtoken --token client_secret spring.security.token credentials privatekey \
            openai_api_key";
        for name in names.split(' ') {
            assert_eq!(meaning(name.as_bytes()), Some(Meaning::Secret), "{name}");
        }
        for name in ["Authorization", "proxy-authorization"] {
            assert_eq!(meaning(name.as_bytes()), Some(Meaning::Authorization), "{name}");
        }
        assert_eq!(meaning(b"STRIPE_KEY"), Some(Meaning::Key));
        assert_eq!(meaning(b"Set-Cookie"), Some(Meaning::Cookie));
    }

    #[test]
    fn every_ending_passes_the_glance() {
        for ending in words::ENDINGS.split(' ') {
            assert!(may_mean(format!("x_{ending}").as_bytes()), "{ending}");
        }
    }

    #[test]
    fn names_that_only_sound_alike_name_nothing() {
        let names = "max_tokens max_token idempotency_key idempotencyKey cacheKey \
            nextPageToken next_token page_token monkey hotkey keyboard public_key password_file \
            secrets tokenizer pass token_ __ dedupe-key secret_name passing";
        for name in names.split(' ') {
            assert_eq!(meaning(name.as_bytes()), None, "{name}");
        }
    }
}
