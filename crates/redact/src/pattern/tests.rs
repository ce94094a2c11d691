//! What is found, what stays, and the laws over texts full of both. A `·` in a
//! text is left out before it is used: no file of ours holds what looks like a
//! secret.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{Masker, form, is_only_marks};

/// A sentence, a text, and the part of it that must not come out.
const PROBES: &[(&str, &str, &str)] = &[
    (
        "an Anthropic key",
        "key is sk-·ant-api03-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA-abcAA.",
        "Zm9vYmFyYmF6",
    ),
    ("an OpenAI project key", "sk-·proj-abcDEF123_ghiJKL456-mnoPQR789", "abcDEF123"),
    (
        "an OpenAI legacy key",
        "use sk-·abcdefghijklmnopqrstT3BlbkFJabcdefghijklmnopqrst",
        "T3BlbkFJ",
    ),
    ("an OpenAI service key", "sk-·svcacct-abcDEF123_ghiJKL456-mnoPQR789", "abcDEF123"),
    ("an AWS key id", "id AKIA·IOSFODNN7EXAMPLE here", "IOSFODNN7"),
    ("an AWS temporary key id", "id ASIA·Y34FZKBOKMUTVV7A here", "Y34FZKBO"),
    (
        "an AWS secret key behind its name",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY·EXAMPLEKEY",
        "K7MDENG",
    ),
    ("a GitHub token", "ghp_·16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F"),
    ("a fine-grained GitHub token", "github_pat_·11ABCDEFG0abcdefghijkl_MNOPQRSTUV", "11ABCDEFG0"),
    ("a GitHub OAuth token", "gho_·16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F"),
    ("a GitHub installation token", "ghs_·16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F"),
    ("a GitHub user token", "ghu_·16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F"),
    ("a GitHub refresh token", "ghr_·16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F"),
    ("a GitLab token", "glpat-·xY3z-9aB_cD4eF5gH6iJ", "xY3z"),
    ("a Google key", "key=AIza·SyA1b2C3d4E5f6G7h8I9j0KlMnOpQrStUvW", "SyA1b2"),
    ("a Stripe live key", "sk_live·_4eC39HqLyjWDarjtT1zdp7dc", "4eC39Hq"),
    ("a restricted Stripe test key", "rk_test·_4eC39HqLyjWDarjtT1zdp7dc", "4eC39Hq"),
    ("a Stripe webhook secret", "whsec·_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "MfKQ9r8"),
    ("a Slack bot token", "xoxb-·123456789012-abcdefGHIJKL", "123456789012"),
    ("a Slack app token", "xapp-·1-A012BCD-123456-abcdef0123456789", "A012BCD"),
    (
        "a Slack webhook",
        "POST https://hooks.slack.com/services/·T00000000/B00000000/XXXXyyyyZZZZ1111 now",
        "B00000000",
    ),
    ("an npm token", "//registry/:_x=npm_·abcdefGHIJKL0123456789mnopqrSTUVWX", "GHIJKL"),
    ("a Hugging Face token", "hf_·abcdEFGHijklMNOPqrstUVWXyz0123", "EFGHijkl"),
    (
        "a signed document",
        "got eyJ·hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0",
        "dozjgNry",
    ),
    ("a bearer header", "Authorization: Bearer abc123·def456ghi789", "def456"),
    ("a basic header", "Authorization: Basic dXNlcjpw·YXNzd29yZA==", "dXNlcjpw"),
    ("a short basic header", "curl -H 'Authorization: Basic YTpi' x", "YTpi"),
    ("a token header", "authorization: token 0a1b2c3d·4e5f", "0a1b2c3d"),
    ("a bare bearer", "sent Bearer abc123·def456 to it", "def456"),
    ("a bare basic", "sent Basic dXNlcjp·wYXNz to it", "dXNlcjp"),
    ("a key header", "x-api-key: abcd1234·EFGH5678", "EFGH5678"),
    ("cookies", "Cookie: sid=abc123; theme=dark\nnext", "abc123"),
    ("a cookie that is set", "Set-Cookie: sid=abc123; Path=/; HttpOnly\r\nnext", "abc123"),
    ("a password in a URL", "clone https://bot:s3cr·et@git.example/x.git", "s3cret"),
    ("a password of a database", "postgres://app:p%40ss@db:5432/main?x=1", "p%40ss"),
    ("a password without a user", "redis://:hunter2@cache:6379/0", "hunter2"),
    ("a token alone in a URL", "https://0a1b2c3d4e5f·6a7b@git.example/x", "0a1b2c3d"),
    ("a token in a query", "GET /x?access_token=abc123·DEF456ghi&page=2", "DEF456"),
    (
        "a private key",
        "x\n-----BEGIN RSA ·PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEowIBAAKCAQEA0Z3VS5\nabc=\n-----END RSA ·PRIVATE KEY-----\ny z",
        "MIIEow",
    ),
    (
        "a private key without an end",
        "-----BEGIN ·PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\nMIIEvQIBADANBgkqhkiG9w0BAQ\nand then more text",
        "MIIEvQ",
    ),
    (
        "a private key in one line",
        "KEY=\"-----BEGIN ·PRIVATE KEY----- MIIEvQIBADANBgkqhkiG9w0BAQ AbC= -----END ·PRIVATE KEY-----\" z",
        "MIIEvQ",
    ),
    ("a plain assignment", "export SERVICE_TOKEN=a1b2c3d4·e5f6g7h8", "a1b2c3d4"),
    ("a quoted assignment", "apiKey: 'a1b2c3d4·e5f6g7h8',", "a1b2c3d4"),
    ("a field of JSON", r#"{"apiKey": "a1b2c3d4·e5f6g7h8", "n": 1}"#, "a1b2c3d4"),
    ("a field of JSON in JSON", r#"{"body":"{\"client_secret\":\"a1b2c3d4·e5f6g7h8\"}"}"#, "a1b2"),
    ("an item of an environment", "os.environ['API_KEY'] = \"a1b2c3d4·e5f6g7h8\"", "a1b2c3d4"),
    ("a flag", "deploy --token a1b2c3d4·e5f6g7h8 --force", "a1b2c3d4"),
    ("a short password", "DB_PASSWORD=hunter2", "hunter2"),
    ("a password that is a word", "password: swordfish\n", "swordfish"),
    ("a passphrase of words", "passphrase = \"correct horse battery\"", "horse"),
    ("a password that begins with a slash", "password=/x8Kp2", "/x8Kp2"),
    ("a secret that begins with a slash", "secret: /x8Kp2mQv9Zr4Lw7T", "/x8Kp2"),
    ("a password with a type", "password: Secret<str> = 'x'; pwd: str = \"hunter2\"", "hunter2"),
    ("a password in a tag", "<password>hunter2</password>", "hunter2"),
    ("a password of a connection", "Server=db;Uid=app;Pwd=hunter2;", "hunter2"),
    (
        "a token on coloured ground",
        "\u{1b}[32mghp_·16C7e42F292c6912E7710c838347Ae178B4a\u{1b}[0m",
        "16C7e42F",
    ),
    ("a token in a URL's escapes", "q=%20ghp_·16C7e42F292c6912E7710c838347Ae178B4a%20", "16C7e42F"),
];

/// Texts that look a little like secrets and are none.
const BENIGN: &[&str] = &[
    "The password is wrong. Password: must be at least 8 characters long.",
    "password: required, token: missing, secret: none",
    "max_tokens: 4096, \"max_tokens\": 4096, total_tokens=128000",
    "idempotency_key: 0f8fad5b-d9cb-469f-a165-70867728950e",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 by A. U. Thor",
    "id 0f8fad5b-d9cb-469f-a165-70867728950e",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "key: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "secret=/etc/ssl/private/site.pem key=/home/me/.ssh/id_ed25519",
    "password_file=/run/secrets/db_password",
    "PWD=/home/me/project OLDPWD=/home/me",
    "nextPageToken: CAUQAA1b2c3d4e5f6g7h8 and continuation_token=1!88!MDAwMDE2",
    "\"key\": \"customers/2024/export.csv\", \"sort_key\": \"name\"",
    "const token = await getToken(); token = process.env.GITHUB_TOKEN",
    "let password = read_password()?; password: String, secret: Option<String>",
    "TOKEN=${TOKEN} API_KEY=$API_KEY --password <password> {{ secret }}",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "The bearer of this letter; Bearer authentication; Basic authentication is off.",
    "https://example.com:8080/path@v2 ssh://git@github.com/a/b.git git@github.com:a/b",
    "https://user:${PASSWORD}@host/ https://user:<password>@host/",
    "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END PUBLIC KEY-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ me@host",
    "class=\"sk-fading-circle sk-circle\" risk-based task-list desk-lamp",
    "hf_hub_download(repo) npm_config_registry=https://registry.example.org/",
    "cookie: a small cake. Cookies are off. cookie_jar=3",
    "env_pass: [HOME] password: PCWSTR<a>, pwd: *const u8, fn f(password: ::std::os::Raw)",
    "line.find(\"PWD=\").unwrap_or(\"\"); secret_key: X509PrivateKeyFlags = 3",
    "monkey=banana12345678901234 hotkey: ctrl+shift+p keyboard: de",
    "token::Kind, Token::new(a), tokens: [1, 2], the token ring",
    "a => b, key => value, x == y; secretName: my-application-secret-name",
    "arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db-AbCdEf",
    "{\"kind\":\"node_started\",\"seq\":12,\"hash\":\"9f86d081884c7d659a2feaa0c55ad015\"}",
    "password: ******** secret: [redacted:db] and token: [redacted secret]",
    "[redacted jwt] [redacted:x]",
];

fn real(text: &str) -> String {
    text.replace('·', "")
}

fn mask(text: &str) -> String {
    Masker::default().mask_text(text).0
}

#[test]
fn every_probe_is_masked_and_its_mark_says_of_what_kind_it_was() {
    let lines: Vec<String> = PROBES
        .iter()
        .map(|(sentence, text, secret)| {
            let masked = mask(&real(text));
            assert!(!masked.contains(secret), "{sentence}: {masked}");
            format!("{sentence}: {masked:?}")
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn every_probe_is_masked_inside_json_text_too() {
    for (sentence, text, secret) in PROBES {
        let mut nested = real(text);
        for depth in 1..=3 {
            nested = json!({ "said": nested }).to_string();
            let masked = mask(&nested);
            assert!(!masked.contains(secret), "{sentence}, {depth} deep: {masked}");
            let whole: Result<Value, _> = serde_json::from_str(&masked);
            assert!(whole.is_ok(), "{sentence}, {depth} deep: {masked}");
        }
    }
}

#[test]
fn every_probe_is_masked_inside_a_json_value() {
    for (sentence, text, secret) in PROBES {
        let value = json!({ "out": [{ "stdout": real(text) }] });
        let (masked, hits) = Masker::default().mask_json(&value);
        assert!(hits > 0 && !masked.to_string().contains(secret), "{sentence}: {masked}");
        assert_eq!(masked["out"][0]["stdout"], mask(&real(text)), "{sentence}");
    }
}

#[test]
fn ordinary_texts_stay_as_they_are() {
    for text in BENIGN {
        assert_eq!(mask(text), *text);
        let nested = json!({ "said": text }).to_string();
        assert_eq!(mask(&nested), nested);
        let value = json!({ "out": text });
        assert_eq!(Masker::default().mask_json(&value), (value, 0));
    }
}

#[test]
fn the_key_of_a_field_counts_in_values_as_in_text() {
    let value = json!({
        "apiKey": "a1b2c3d4e5f6g7h8",
        "db": { "password": "hunter2", "user": "me", "port": 5432 },
        "passphrase": "correct horse",
        "token": "is missing",
        "Authorization": "Bearer abc123def456",
        "cookie": "sid=abc123; theme=dark",
        "max_tokens": 4096,
        "pin_password": 12345678,
        "idempotency_key": "a1b2c3d4e5f6g7h8",
        "nested": "{\"apiKey\":\"a1b2c3d4e5f6g7h8\"}",
        "secret": "/x8Kp2mQv9Zr4Lw7T",
        "path_secret": "/etc/ssl/private/site.pem",
    });
    let (masked, hits) = Masker::default().mask_json(&value);
    insta::assert_snapshot!(serde_json::to_string_pretty(&masked).unwrap());
    assert_eq!(hits, 8);
    let text: Value = serde_json::from_str(
        &mask(&value.to_string())
            .replace("[redacted password],\"secret\"", "\"[redacted password]\",\"secret\""),
    )
    .unwrap_or_default();
    assert_eq!(text, masked);
}

#[test]
fn items_of_an_array_have_the_name_of_its_field() {
    let value = json!({ "credentials": ["a1b2c3d4e5f6g7h8", ["i9j8k7l6m5n4o3p2"]] });
    assert_eq!(
        Masker::default().mask_json(&value).0,
        json!({ "credentials": ["[redacted secret]", ["[redacted secret]"]] })
    );
}

#[test]
fn a_text_of_one_secret_is_only_a_mark() {
    assert!(is_only_marks(&mask(&real("ghp_·16C7e42F292c6912E7710c838347Ae178B4a"))));
}

#[test]
fn known_values_keep_their_names_and_complete_what_they_are_part_of() {
    let values = [("deploy".to_owned(), durable::Sealed::new("hunter22".to_owned()))];
    let masker = Masker::new(values);
    for (text, expected) in [
        ("password=hunter22", "password=[redacted:deploy]"),
        ("Bearer hunter22", "Bearer [redacted:deploy]"),
        ("https://u:hunter22@h/", "https://u:[redacted:deploy]@h/"),
        ("https://u:a-hunter22@h/", "https://u:[redacted url_password]@h/"),
        ("token=abc-hunter22-def,", "token=[redacted secret],"),
        ("Basic dXNlcjpodW50ZXIyMg==", "Basic [redacted authorization]"),
        ("hunter22 sk-hunter22", "[redacted:deploy] sk-[redacted:deploy]"),
    ] {
        assert_eq!(masker.mask_text(text).0, expected);
    }
}

#[test]
fn only_known_values_are_masked_where_that_is_asked_for() {
    let text = real("password=hunter2 ghp_·16C7e42F292c6912E7710c838347Ae178B4a");
    assert_eq!(Masker::known_only([]).mask_text(&text), (text, 0));
}

#[test]
fn a_stream_holds_back_no_more_than_a_rule_may_see() {
    let long = "a1B2".repeat(1_000);
    for start in
        ["password=", "token: \"", "https://a:", "eyJ", "-----BEGIN PRIVATE KEY-----\n", ""]
    {
        let mut stream = Masker::default().stream();
        let mut out = stream.push(start.as_bytes());
        for byte in long.bytes() {
            out.extend(stream.push(&[byte]));
            assert!(stream.held_back_bytes() < 2048, "{start:?}");
        }
        assert!(stream.visits() < long.len() as u64 * 512, "{start:?}: {}", stream.visits());
        out.extend(stream.finish());
        let whole = mask(&format!("{start}{long}"));
        assert_eq!(String::from_utf8(out).unwrap(), whole);
    }
}

/// Texts that make a careless rule start over and over.
const HARD: &[&str] = &[
    "a",
    " ",
    "token=",
    "password: ",
    "eyJ",
    "eyJ.",
    "a://",
    "a://b:",
    "://@",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----\n",
    "\\",
    "\\\"",
    "\"",
    "\"token\":",
    "'",
    "[redacted",
    "[redacted ",
    "[redacted:a]",
    "sk-",
    "ghp_",
    "Bearer ",
    "cookie: a=",
    "authorization: ",
    "_",
    "-",
    ".",
    "%20",
    "\\u0022",
    "--token ",
    "api_key=\"",
    "password='a b",
    "\u{1b}[0m",
    "Ä",
];

#[test]
fn the_looks_at_each_byte_are_bounded_whatever_the_text() {
    for piece in HARD {
        let looks = |bytes: usize| {
            let text = piece.repeat(bytes / piece.len());
            let mut stream = Masker::default().stream();
            stream.push(text.as_bytes());
            stream.finish();
            stream.visits()
        };
        let (once, twice) = (looks(6_000), looks(12_000));
        assert!(once < 6_000 * 128, "{piece:?}: {once} looks at 6000 bytes");
        assert!(twice < once * 21 / 10 + 5_000, "{piece:?}: {once}, then {twice}");
    }
}

/// Text that is dense in what the rules look for.
fn text() -> impl Strategy<Value = String> {
    let pieces: Vec<String> = PROBES
        .iter()
        .map(|(_, text, _)| real(text))
        .chain(HARD.iter().map(|text| (*text).to_owned()))
        .collect();
    let piece =
        (prop::sample::select(pieces), 0..8_u8, 0..60_usize, "[a-zA-Z0-9=:/@.\"' \\\\_-]{0,12}")
            .prop_map(|(piece, way, cut, plain)| match way {
                0 | 1 => piece,
                2 => piece[..piece.floor_char_boundary(cut.min(piece.len()))].to_owned(),
                3 => piece[piece.floor_char_boundary(cut.min(piece.len()))..].to_owned(),
                4 => Value::from(piece).to_string(),
                5 => ["[redacted:a]", "[redacted jwt]", "\n", " "][cut % 4].to_owned(),
                _ => plain,
            });
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn masking_twice_changes_nothing_more(text in text()) {
        let (once, _) = Masker::default().mask_text(&text);
        prop_assert_eq!(Masker::default().mask_text(&once), (once, 0));
    }

    #[test]
    fn with_known_values_all_laws_hold_together(
        text in text(),
        at in 0..200_usize,
        bytes in 6..20_usize,
        cut in 0..300_usize,
    ) {
        let from = text.floor_char_boundary(at.min(text.len()));
        let end = text.floor_char_boundary((at + bytes).min(text.len()));
        let value = &text[from..end];
        let masker =
            Masker::new([("known".to_owned(), durable::Sealed::new(value.to_owned()))]);
        let (once, hits) = masker.mask_text(&text);
        for form in form::bare(value).map(form::forms).unwrap_or_default() {
            prop_assert!(!once.contains(&form), "{form:?} in {once:?}");
        }
        let mut stream = masker.stream();
        let (first, second) = text.split_at(text.floor_char_boundary(cut.min(text.len())));
        let mut out = stream.push(first.as_bytes());
        out.extend(stream.push(second.as_bytes()));
        out.extend(stream.finish());
        prop_assert_eq!((String::from_utf8(out).unwrap(), stream.hits()), (once.clone(), hits));
        prop_assert_eq!(masker.mask_text(&once), (once, 0));
    }

    #[test]
    fn how_a_stream_is_cut_does_not_show(
        text in text(),
        cuts in prop::collection::vec(1..30_usize, 1..20),
    ) {
        let mut stream = Masker::default().stream();
        let mut out = Vec::new();
        let mut rest = text.as_bytes();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at((*cut).min(rest.len()));
            let ready = stream.push(piece);
            prop_assert!(std::str::from_utf8(&ready).is_ok());
            out.extend(ready);
            rest = after;
        }
        out.extend(stream.finish());
        let (whole, hits) = Masker::default().mask_text(&text);
        prop_assert_eq!(String::from_utf8(out).unwrap(), whole);
        prop_assert_eq!(stream.hits(), hits);
    }

    #[test]
    fn a_value_masked_twice_changes_nothing_more(text in text(), key in "(api_key|password|token|Authorization|cookie|a)") {
        let value = json!({ key: [text] });
        let (once, _) = Masker::default().mask_json(&value);
        prop_assert_eq!(Masker::default().mask_json(&once), (once, 0));
    }
}
