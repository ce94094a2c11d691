//! Which provider does an agent's task. A wish that cannot be met is an
//! error and never passed over: work does not go to someone else in silence.

use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;

use crate::suggest::did_you_mean;

/// A provider that this program can speak to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProviderName {
    Scripted,
}

/// All that has a say, in falling order of weight.
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
    pub const ALL: &[Self] = &[Self::Scripted];

    pub fn word(self) -> &'static str {
        match self {
            Self::Scripted => "scripted",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|name| name.word() == word)
    }

    /// What to do so that the provider can be used.
    fn next_step(self) -> &'static str {
        match self {
            Self::Scripted => "give it a script with `--script FILE`",
        }
    }
}

impl fmt::Display for ProviderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The bind for this agent, else `--provider`, else the settings, else the
/// only one that is installed.
pub fn choose(agent: &str, wishes: &Wishes) -> Result<ProviderName, ChooseError> {
    let bind = wishes.binds.get(agent).map(|name| (format!("`--bind {agent}`"), name));
    let flag = || wishes.provider.as_ref().map(|name| ("`--provider`".to_owned(), name));
    let setting =
        || wishes.default.as_ref().map(|name| ("the default of the settings".to_owned(), name));
    if let Some((by, name)) = bind.or_else(flag).or_else(setting) {
        return wanted(by, name, &wishes.installed);
    }
    match wishes.installed[..] {
        [only] => Ok(only),
        [] | [_, _, ..] => Err(ChooseError::Nobody {
            agent: agent.to_owned(),
            found: format!(
                "{}; name one with `--provider NAME` or `--bind {agent}=NAME`",
                found(&wishes.installed)
            ),
        }),
    }
}

fn wanted(by: String, name: &str, installed: &[ProviderName]) -> Result<ProviderName, ChooseError> {
    let words = || ProviderName::ALL.iter().map(|name| name.word());
    let Some(provider) = ProviderName::from_word(name) else {
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
    let words: Vec<&str> = installed.iter().map(|name| name.word()).collect();
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
            "`--provider` asks for provider `gpt`, which does not exist; there are: scripted"
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
}
