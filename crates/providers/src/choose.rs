//! Which provider does an agent's task. A wish that cannot be met is an
//! error and never passed over: work does not go to someone else in silence.

use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;

use crate::suggest::did_you_mean;

/// A provider by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProviderName {
    Scripted,
    Claude,
    Codex,
    Gemini,
    OpenCode,
    /// One that the settings describe.
    Named(String),
}

/// All that has a say for every agent of a run.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// By agent as the author wrote it (`role:x`): assignments and `--bind`.
    pub binds: BTreeMap<String, String>,
    /// `--provider`
    pub provider: Option<String>,
    /// From the settings.
    pub default: Option<String>,
    /// Those that can be used now. The scripted one counts when there is a
    /// script.
    pub installed: Vec<ProviderName>,
    /// Those that the settings describe, installed or not.
    pub configured: Vec<String>,
}

/// What the author wrote for one task.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asks<'a> {
    /// `provider` of the node.
    pub node: Option<&'a str>,
    /// Of the definition of the class that the agent is of.
    pub class: Option<&'a str>,
}

/// Why nobody does the task.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ChooseError {
    #[error("{by} asks for provider `{name}`, which does not exist; {hint}")]
    Unknown { by: String, name: String, hint: String },
    #[error("{by} asks for provider `{name}`, which is not installed; {found}")]
    NotInstalled { by: String, name: ProviderName, found: String },
    #[error("nothing says which provider acts as `{agent}`, and {found}")]
    Nobody { agent: String, found: String },
}

impl ProviderName {
    pub const BUILT_IN: [Self; 5] =
        [Self::Scripted, Self::Claude, Self::Codex, Self::Gemini, Self::OpenCode];

    pub fn word(&self) -> &str {
        match self {
            Self::Scripted => "scripted",
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::Named(name) => name,
        }
    }

    /// The one that is built in under this name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::BUILT_IN.into_iter().find(|name| name.word() == word)
    }

    /// What to do so that the provider can be used.
    fn next_step(&self) -> &'static str {
        match self {
            Self::Scripted => "give it a script with `--script FILE`",
            Self::Claude | Self::Codex | Self::Gemini | Self::OpenCode => {
                "install it, or add its folder to PATH"
            }
            Self::Named(_) => "correct its `program` in settings/providers.toml, or install it",
        }
    }
}

impl fmt::Display for ProviderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// As [`choose_for`], for a task of which the author wrote nothing.
pub fn choose(agent: &str, wishes: &Wishes) -> Result<ProviderName, ChooseError> {
    choose_for(agent, Asks::default(), wishes)
}

/// The bind for this agent, else `provider` of the node, else that of the
/// class, else `--provider`, else the settings, else the only one that is
/// installed.
pub fn choose_for(
    agent: &str,
    asks: Asks<'_>,
    wishes: &Wishes,
) -> Result<ProviderName, ChooseError> {
    let bind = wishes.binds.get(agent).map(String::as_str);
    let order = [
        (format!("`--bind {agent}`"), bind),
        ("`provider` of the node".to_owned(), asks.node),
        (format!("the definition of `{agent}`"), asks.class),
        ("`--provider`".to_owned(), wishes.provider.as_deref()),
        ("the default of the settings".to_owned(), wishes.default.as_deref()),
    ];
    for (by, name) in order {
        if let Some(name) = name {
            return wanted(by, name, wishes);
        }
    }
    match &wishes.installed[..] {
        [only] => Ok(only.clone()),
        [] | [_, _, ..] => Err(ChooseError::Nobody {
            agent: agent.to_owned(),
            found: format!(
                "{}; name one with `--provider NAME` or `--bind {agent}=NAME`",
                found(&wishes.installed)
            ),
        }),
    }
}

fn wanted(by: String, name: &str, wishes: &Wishes) -> Result<ProviderName, ChooseError> {
    let Wishes { installed, configured, .. } = wishes;
    let named = || configured.iter().find(|word| *word == name).cloned().map(ProviderName::Named);
    let Some(provider) = ProviderName::from_word(name).or_else(named) else {
        let built_in = ProviderName::BUILT_IN;
        let words =
            || built_in.iter().map(ProviderName::word).chain(configured.iter().map(|w| &w[..]));
        let hint = did_you_mean(name, words()).map_or_else(
            || format!("there are: {}", words().collect::<Vec<_>>().join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(ChooseError::Unknown { by, name: name.to_owned(), hint });
    };
    if installed.contains(&provider) {
        return Ok(provider);
    }
    let found = format!("{}; {}", found(installed), provider.next_step());
    Err(ChooseError::NotInstalled { by, name: provider, found })
}

fn found(installed: &[ProviderName]) -> String {
    let words: Vec<&str> = installed.iter().map(ProviderName::word).collect();
    match words[..] {
        [] => "none was found".to_owned(),
        _ => format!("these were found: {}", words.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wishes(bind: &str, provider: &str, default: &str, installed: &[ProviderName]) -> Wishes {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let binds = some(bind).map(|name| ("role:a".to_owned(), name));
        Wishes {
            binds: binds.into_iter().collect(),
            provider: some(provider),
            default: some(default),
            installed: installed.to_vec(),
            configured: vec!["own".to_owned()],
        }
    }

    const HERE: &[ProviderName] = &[ProviderName::Scripted];

    #[test]
    fn the_nearest_wish_decides_and_the_others_are_not_looked_at() {
        let yes = Ok(ProviderName::Scripted);
        assert_eq!(choose("role:a", &wishes("scripted", "x", "x", HERE)), yes);
        assert_eq!(choose("role:a", &wishes("", "scripted", "x", HERE)), yes);
        assert_eq!(choose("role:a", &wishes("", "", "scripted", HERE)), yes);
        assert_eq!(choose("role:a", &wishes("", "", "", HERE)), yes);
    }

    #[test]
    fn a_bind_for_another_agent_does_not_count() {
        let got = choose("role:b", &wishes("nonsense", "", "", HERE));
        assert_eq!(got, Ok(ProviderName::Scripted));
    }

    #[test]
    fn a_wish_that_cannot_be_met_says_who_wished_and_what_to_do() {
        let said = |wishes| choose("role:a", &wishes).unwrap_err().to_string();
        assert_eq!(
            said(wishes("scriptd", "scripted", "", HERE)),
            "`--bind role:a` asks for provider `scriptd`, which does not exist; \
             did you mean `scripted`?"
        );
        assert_eq!(
            said(wishes("", "gpt", "", HERE)),
            "`--provider` asks for provider `gpt`, which does not exist; there are: scripted, \
             claude, codex, gemini, opencode, own"
        );
        assert_eq!(
            said(wishes("", "", "scripted", &[])),
            "the default of the settings asks for provider `scripted`, which is not installed; \
             none was found; give it a script with `--script FILE`"
        );
        assert_eq!(
            said(wishes("", "", "", &[])),
            "nothing says which provider acts as `role:a`, and none was found; \
             name one with `--provider NAME` or `--bind role:a=NAME`"
        );
    }

    #[test]
    fn each_says_more_than_those_that_come_after_it() {
        let all = [
            ProviderName::Claude,
            ProviderName::Codex,
            ProviderName::Gemini,
            ProviderName::OpenCode,
            ProviderName::Named("own".to_owned()),
        ];
        let words: Vec<String> = all.iter().map(|name| name.word().to_owned()).collect();
        for first in 0..all.len() {
            let from = |i: usize| if i < first { "" } else { &words[i] };
            let some = |i: usize| (i >= first).then(|| &words[i][..]);
            let wishes = wishes(from(0), from(3), from(4), &all);
            let asks = Asks { node: some(1), class: some(2) };
            assert_eq!(choose_for("role:a", asks, &wishes), Ok(all[first].clone()), "{first}");
        }
        assert!(choose_for("role:a", Asks::default(), &wishes("", "", "", &all)).is_err());
    }

    #[test]
    fn one_that_is_described_but_not_there_is_told_so() {
        let said = choose("role:a", &wishes("own", "", "", HERE)).unwrap_err().to_string();
        assert_eq!(
            said,
            "`--bind role:a` asks for provider `own`, which is not installed; these were found: \
             scripted; correct its `program` in settings/providers.toml, or install it"
        );
    }
}
