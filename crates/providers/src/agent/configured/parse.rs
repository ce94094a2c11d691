//! From the text of `providers.toml` to providers, or to an error that names
//! the key, the cause and the next step.

use std::collections::BTreeMap;

use durable::limits::ENV_VALUE_BYTES;
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use super::{Changed, Configured, Is, Pointer, Pointers, PromptBy, Providers, Reply};
use crate::agent::request::Mode;
use crate::choose::ProviderName;
use crate::suggest::did_you_mean;

/// The file. A hundred providers with all keys stay far below it.
const FILE_BYTES: usize = 256 << 10;

/// Providers in one file, and words in one list.
const PROVIDERS: usize = 100;
const WORDS: usize = 200;

/// What is wrong with the file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}: {key}: {cause}; {next}")]
pub struct ProvidersError {
    pub file: String,
    pub key: String,
    pub cause: String,
    pub next: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    default: Option<String>,
    #[serde(default)]
    provider: BTreeMap<String, Table>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    program: Option<String>,
    args: Option<Vec<String>>,
    model_args: Option<Vec<String>>,
    resume_args: Option<Vec<String>>,
    schema_args: Option<Vec<String>>,
    tool_args: Option<Vec<String>>,
    modes: Option<BTreeMap<String, Vec<String>>>,
    prompt: Option<String>,
    reply: Option<String>,
    read: Option<Read>,
    limits: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
    env_pass: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    text: Texts,
    when: Option<IsTable>,
    #[serde(default)]
    join: bool,
    session: Option<String>,
    #[serde(default)]
    tokens: Vec<String>,
    cost_usd: Option<String>,
    error: Option<String>,
    done: Option<IsTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct IsTable {
    at: String,
    is: Value,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Texts {
    One(String),
    Several(Vec<String>),
}

/// A cause and a next step, for a key.
struct Wrong {
    key: String,
    cause: String,
    next: String,
}

type Checked<T> = Result<T, Wrong>;

fn wrong(key: &str, cause: impl Into<String>, next: impl Into<String>) -> Wrong {
    Wrong { key: key.to_owned(), cause: cause.into(), next: next.into() }
}

impl Providers {
    /// Reads the text of the file; `file` is its path, for messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, ProvidersError> {
        let told = |wrong: Wrong| ProvidersError {
            file: file.to_owned(),
            key: wrong.key,
            cause: wrong.cause,
            next: wrong.next,
        };
        if text.len() > FILE_BYTES {
            let cause = format!("it has {} bytes, the most is {FILE_BYTES}", text.len());
            return Err(told(wrong("the file", cause, "make it shorter")));
        }
        let parsed: File = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| {
                text.as_bytes()[..span.start.min(text.len())]
                    .iter()
                    .filter(|b| **b == b'\n')
                    .count()
                    + 1
            });
            let cause = error.message().trim().replace('\n', " ");
            told(wrong(
                &format!("line {line}"),
                cause,
                "see docs/providers/command.md for the keys",
            ))
        })?;
        if parsed.provider.len() > PROVIDERS {
            let cause = format!("{} are described, the most is {PROVIDERS}", parsed.provider.len());
            return Err(told(wrong("provider", cause, "remove those that you do not use")));
        }
        let mut providers = Self::default();
        for (name, table) in parsed.provider {
            providers.add(&name, table).map_err(|wrong| {
                let key = format!("[provider.{name}] {}", wrong.key);
                told(Wrong { key, ..wrong })
            })?;
        }
        providers.default = parsed.default;
        providers.check_default().map_err(told)?;
        Ok(providers)
    }

    fn check_default(&self) -> Checked<()> {
        let Some(default) = &self.default else { return Ok(()) };
        let configured = self.configured.keys().map(String::as_str);
        // What a script plays is no work of anybody.
        let built_in = ProviderName::BUILT_IN.iter().map(ProviderName::word).skip(1);
        let words: Vec<&str> = built_in.chain(configured).collect();
        if words.contains(&&default[..]) {
            return Ok(());
        }
        let next = did_you_mean(default, words.iter().copied()).map_or_else(
            || format!("there are: {}", words.join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        Err(wrong("default", format!("there is no provider `{default:.40}`"), next))
    }

    fn add(&mut self, name: &str, table: Table) -> Checked<()> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if !name.starts_with(|c: char| c.is_ascii_lowercase())
            || !name.chars().all(plain)
            || name.len() > 40
        {
            let cause = "a name is 1 to 40 of `a` to `z`, digits and `-`, and begins with a letter";
            return Err(wrong("name", cause, "rename it"));
        }
        if ProviderName::BUILT_IN.iter().any(|built_in| built_in.word() == name) {
            self.changed.insert(name.to_owned(), changed(table)?);
        } else {
            self.configured.insert(name.to_owned(), configured(name, table)?);
        }
        Ok(())
    }
}

/// What is built in keeps its own words: only where it is, and what it gets.
fn changed(table: Table) -> Checked<Changed> {
    let Table {
        program,
        args,
        model_args,
        resume_args,
        schema_args,
        tool_args,
        modes,
        prompt,
        reply,
        read,
        limits,
        env,
        env_pass,
    } = table;
    let others = [
        ("args", args.is_some()),
        ("model_args", model_args.is_some()),
        ("resume_args", resume_args.is_some()),
        ("schema_args", schema_args.is_some()),
        ("tool_args", tool_args.is_some()),
        ("modes", modes.is_some()),
        ("prompt", prompt.is_some()),
        ("reply", reply.is_some()),
        ("read", read.is_some()),
        ("limits", limits.is_some()),
        ("env", env.is_some()),
    ];
    if let Some((key, _)) = others.into_iter().find(|(_, given)| *given) {
        let cause = "this provider is built in, so only `program` and `env_pass` can be said of it";
        return Err(wrong(key, cause, "remove the key, or give your own provider another name"));
    }
    if let Some(program) = &program {
        check_program(program)?;
    }
    let env_pass = env_pass.unwrap_or_default();
    check_env(&BTreeMap::new(), &env_pass)?;
    Ok(Changed { program, env_pass })
}

fn configured(name: &str, table: Table) -> Checked<Configured> {
    let Some(program) = table.program else {
        return Err(wrong("program", "it is missing", "name the program to start"));
    };
    check_program(&program)?;
    let prompt = match table.prompt.as_deref() {
        None | Some("stdin") => PromptBy::Stdin,
        Some("file") => PromptBy::File,
        Some("arg") => PromptBy::Argument,
        Some(other) => {
            let cause = format!("`{other}` is no way to hand over a prompt");
            return Err(wrong("prompt", cause, "use `stdin`, `file` or `arg`"));
        }
    };
    let args = table.args.unwrap_or_default();
    let place = match prompt {
        PromptBy::Stdin => None,
        PromptBy::File => Some("{prompt_file}"),
        PromptBy::Argument => Some("{prompt}"),
    };
    check_args("args", &args, &["{workspace}"], place)?;
    check_list("model_args", table.model_args.as_deref(), "{model}")?;
    check_list("resume_args", table.resume_args.as_deref(), "{session}")?;
    check_list("schema_args", table.schema_args.as_deref(), "{schema_file}")?;
    check_list("tool_args", table.tool_args.as_deref(), "{tool}")?;
    let modes = table.modes.map(modes).transpose()?;
    let has_custom = modes.as_ref().is_some_and(|modes| modes.contains_key(&Mode::Custom));
    if has_custom && table.tool_args.is_none() {
        let cause = "mode `custom` names tools, and nothing says how";
        return Err(wrong("tool_args", cause, "add `tool_args = [\"--tool\", \"{tool}\"]`"));
    }
    let limits = table.limits.unwrap_or_default();
    if limits.len() > WORDS || limits.iter().any(|phrase| phrase.trim().len() < 4) {
        let cause = format!("it takes up to {WORDS} phrases of at least 4 letters");
        return Err(wrong("limits", cause, "use phrases that only a limit message has"));
    }
    let env = table.env.unwrap_or_default();
    let env_pass = table.env_pass.unwrap_or_default();
    check_env(&env, &env_pass)?;
    Ok(Configured {
        name: name.to_owned(),
        program,
        args,
        model_args: table.model_args,
        resume_args: table.resume_args,
        schema_args: table.schema_args,
        tool_args: table.tool_args,
        modes,
        prompt,
        reply: reply(table.reply.as_deref(), table.read)?,
        limits,
        env,
        env_pass,
    })
}

fn modes(table: BTreeMap<String, Vec<String>>) -> Checked<BTreeMap<Mode, Vec<String>>> {
    let mut modes = BTreeMap::new();
    for (word, args) in table {
        let Some(mode) = Mode::from_word(&word) else {
            let cause = format!("`{word}` is no mode");
            return Err(wrong("modes", cause, "use `plan`, `edit`, `full` or `custom`"));
        };
        check_args(&format!("modes.{word}"), &args, &["{workspace}"], None)?;
        modes.insert(mode, args);
    }
    Ok(modes)
}

fn reply(word: Option<&str>, read: Option<Read>) -> Checked<Reply> {
    match (word, read) {
        (None | Some("text"), None) => Ok(Reply::Text),
        (None | Some("text"), Some(_)) => {
            let cause = "there are no pointers into plain text";
            Err(wrong("read", cause, "set `reply` to `json` or `json-lines`, or remove `read`"))
        }
        (Some("json" | "json-lines"), None) => {
            let next = "add `read = { text = \"/where/the/answer/is\" }`";
            Err(wrong("read", "it is missing", next))
        }
        (Some("json"), Some(read)) => Ok(Reply::Json(pointers(read)?)),
        (Some("json-lines"), Some(read)) => {
            let pointers = pointers(read)?;
            if pointers.done.is_none() {
                let cause = "nothing says which line ends a turn, and an exit code proves nothing";
                let next = "add `done = { at = \"/type\", is = \"result\" }`";
                return Err(wrong("read.done", cause, next));
            }
            Ok(Reply::JsonLines(pointers))
        }
        (Some(other), _) => {
            let cause = format!("`{other}` is no form of a reply");
            Err(wrong("reply", cause, "use `text`, `json` or `json-lines`"))
        }
    }
}

fn pointers(read: Read) -> Checked<Pointers> {
    let text = match read.text {
        Texts::One(text) => vec![text],
        Texts::Several(texts) => texts,
    };
    if text.is_empty() || text.len().max(read.tokens.len()) > WORDS {
        return Err(wrong(
            "read",
            "there is no pointer, or there are too many",
            "name the few that count",
        ));
    }
    let one = |key, text: Option<String>| text.map(|text| pointer(key, &text)).transpose();
    let all = |key, texts: Vec<String>| -> Checked<Vec<Pointer>> {
        texts.iter().map(|text| pointer(key, text)).collect()
    };
    let is = |key, table: Option<IsTable>| {
        let is = |table: IsTable| Ok(Is { at: pointer(key, &table.at)?, is: table.is });
        table.map(is).transpose()
    };
    Ok(Pointers {
        text: all("read.text", text)?,
        tokens: all("read.tokens", read.tokens)?,
        session: one("read.session", read.session)?,
        cost_usd: one("read.cost_usd", read.cost_usd)?,
        error: one("read.error", read.error)?,
        when: is("read.when.at", read.when)?,
        done: is("read.done.at", read.done)?,
        join: read.join,
    })
}

fn pointer(key: &str, text: &str) -> Checked<Pointer> {
    Pointer::parse(text).ok_or_else(|| {
        let cause = format!("`{text}` is no JSON pointer");
        wrong(key, cause, "write it like `/result/text`")
    })
}

fn check_program(program: &str) -> Checked<()> {
    if program.trim().is_empty() || program.chars().any(char::is_control) {
        return Err(wrong(
            "program",
            "it is empty or has control characters",
            "name the program to start",
        ));
    }
    if program.contains('/') && !program.starts_with('/') {
        let cause = format!("`{program}` depends on the folder that one stands in");
        return Err(wrong("program", cause, "give a name, or a path from `/`"));
    }
    Ok(())
}

fn check_list(key: &str, args: Option<&[String]>, place: &str) -> Checked<()> {
    args.map_or(Ok(()), |args| check_args(key, args, &[], Some(place)))
}

/// Every place in braces is one of those that this list has, and the one
/// that it must have is there.
fn check_args(key: &str, args: &[String], may: &[&str], must: Option<&str>) -> Checked<()> {
    let size: usize = args.iter().map(String::len).sum();
    if args.len() > WORDS || size > ENV_VALUE_BYTES || args.iter().any(|arg| arg.contains('\0')) {
        let cause = format!(
            "it takes up to {WORDS} arguments without zero bytes, {ENV_VALUE_BYTES} bytes in all"
        );
        return Err(wrong(key, cause, "make it shorter"));
    }
    for found in args.iter().flat_map(|arg| places(arg)) {
        if !may.contains(&found) && must != Some(found) {
            let known: Vec<&str> = may.iter().copied().chain(must).collect();
            let next = if known.is_empty() {
                "remove it".to_owned()
            } else {
                format!("here may stand: {}", known.join(", "))
            };
            return Err(wrong(key, format!("`{found}` has no meaning here"), next));
        }
    }
    match must {
        Some(place) if !args.iter().any(|arg| arg.contains(place)) => {
            Err(wrong(key, format!("`{place}` does not stand in it"), "add it where it belongs"))
        }
        Some(_) | None => Ok(()),
    }
}

/// Lower-case words in braces.
fn places(arg: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in arg.match_indices('{') {
        if let Some(end) = arg[at..].find('}') {
            let inner = &arg[at + 1..at + end];
            if !inner.is_empty() && inner.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') {
                found.push(&arg[at..=at + end]);
            }
        }
    }
    found
}

fn check_env(env: &BTreeMap<String, String>, pass: &[String]) -> Checked<()> {
    let odd = |name: &str| name.is_empty() || name.len() > 200 || name.contains(['=', '\0']);
    if let Some(name) =
        env.keys().chain(pass).find(|name| odd(name) || name.starts_with("WARDIAN_"))
    {
        let cause = format!("{name:?} cannot be set or passed on");
        return Err(wrong("env", cause, "use another name; ours begin with `WARDIAN_`"));
    }
    if pass.len() > WORDS || env.len() > WORDS {
        return Err(wrong("env", "there are too many variables", "name the few that it needs"));
    }
    if env.values().any(|value| value.len() > ENV_VALUE_BYTES || value.contains('\0')) {
        return Err(wrong("env", "a value is too long or has a zero byte", "hand it over by file"));
    }
    Ok(())
}
