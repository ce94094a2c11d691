//! What a pattern can find, and the mark of each kind: `[redacted KIND]`. Pure.

use crate::mark;

/// What was found. The order is the order of preference: where two patterns
/// find something at the same place, the more telling kind names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Anthropic,
    OpenAi,
    Aws,
    GitHub,
    GitLab,
    Google,
    Stripe,
    Slack,
    Npm,
    HuggingFace,
    Vendor,
    Jwt,
    PrivateKey,
    Cookie,
    UrlPassword,
    Authorization,
    Password,
    Secret,
}

impl Kind {
    pub(crate) const ALL: [Self; 18] = [
        Self::Anthropic,
        Self::OpenAi,
        Self::Aws,
        Self::GitHub,
        Self::GitLab,
        Self::Google,
        Self::Stripe,
        Self::Slack,
        Self::Npm,
        Self::HuggingFace,
        Self::Vendor,
        Self::Jwt,
        Self::PrivateKey,
        Self::Cookie,
        Self::UrlPassword,
        Self::Authorization,
        Self::Password,
        Self::Secret,
    ];

    fn label(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic_key",
            Self::OpenAi => "openai_key",
            Self::Aws => "aws_key_id",
            Self::GitHub => "github_token",
            Self::GitLab => "gitlab_token",
            Self::Google => "google_key",
            Self::Stripe => "stripe_key",
            Self::Slack => "slack_token",
            Self::Npm => "npm_token",
            Self::HuggingFace => "hugging_face_token",
            Self::Vendor => "api_token",
            Self::Jwt => "jwt",
            Self::PrivateKey => "private_key",
            Self::Cookie => "cookie",
            Self::UrlPassword => "url_password",
            Self::Authorization => "authorization",
            Self::Password => "password",
            Self::Secret => "secret",
        }
    }
}

/// The mark of every kind.
pub(crate) struct Marks([String; Kind::ALL.len()]);

impl Marks {
    /// Marks that neither hold nor make up any of these forms.
    pub(crate) fn new<'a>(forms: impl Iterator<Item = &'a str> + Clone) -> Self {
        Self(Kind::ALL.map(|kind| {
            mark::choose(mark::OPEN_KIND, kind.label(), kind as usize + 1, forms.clone())
        }))
    }

    pub(crate) fn of(&self, kind: Kind) -> &str {
        &self.0[kind as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_stands_at_its_own_place_in_the_table() {
        for (index, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index, "{kind:?}");
        }
    }

    #[test]
    fn a_kind_whose_name_is_somebodys_password_is_shown_as_a_number() {
        let marks = Marks::new(["password"].into_iter());
        assert_eq!(marks.of(Kind::UrlPassword), "[redacted 15]");
        assert_eq!(marks.of(Kind::Password), "[redacted 17]");
        assert_eq!(marks.of(Kind::Jwt), "[redacted jwt]");
    }
}
