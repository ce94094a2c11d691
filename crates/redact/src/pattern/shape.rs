//! Secrets that say themselves what they are: by how they begin. Pure.

use super::judge;
use super::kind::Kind;
use super::rules::Found;
use super::run::{Class, run};
use super::window::{Look, Window};

/// How a secret of some kind begins, and how it goes on.
struct Shape {
    prefix: &'static str,
    class: Class,
    /// Bytes behind the prefix, at least.
    bytes_min: usize,
    kind: Kind,
    /// Whether the prefix is part of the secret, or only shows where it begins.
    whole: bool,
    /// Whether words may begin like this too.
    vague: bool,
}

const fn shape(prefix: &'static str, class: Class, bytes_min: usize, kind: Kind) -> Shape {
    Shape { prefix, class, bytes_min, kind, whole: true, vague: false }
}

const fn behind(prefix: &'static str, class: Class, bytes_min: usize, kind: Kind) -> Shape {
    Shape { prefix, class, bytes_min, kind, whole: false, vague: false }
}

const fn vague(prefix: &'static str, class: Class, bytes_min: usize, kind: Kind) -> Shape {
    Shape { prefix, class, bytes_min, kind, whole: true, vague: true }
}

/// The first that matches counts, so the longer prefix stands first.
const SHAPES: &[Shape] = &[
    shape("sk-ant-", Class::Url, 16, Kind::Anthropic),
    shape("sk-proj-", Class::Url, 20, Kind::OpenAi),
    shape("sk-svcacct-", Class::Url, 20, Kind::OpenAi),
    shape("sk-admin-", Class::Url, 20, Kind::OpenAi),
    shape("sk-None-", Class::Url, 20, Kind::OpenAi),
    shape("sk-or-v1-", Class::Alnum, 32, Kind::Vendor),
    // The legacy form, and what others made after it.
    vague("sk-", Class::Alnum, 20, Kind::OpenAi),
    shape("AKIA", Class::Upper, 16, Kind::Aws),
    shape("ASIA", Class::Upper, 16, Kind::Aws),
    shape("ABIA", Class::Upper, 16, Kind::Aws),
    shape("ACCA", Class::Upper, 16, Kind::Aws),
    shape("github_pat_", Class::Word, 22, Kind::GitHub),
    shape("ghp_", Class::Word, 20, Kind::GitHub),
    shape("gho_", Class::Word, 20, Kind::GitHub),
    shape("ghu_", Class::Word, 20, Kind::GitHub),
    // Tokens of installations may be signed documents with dots.
    shape("ghs_", Class::Dotted, 20, Kind::GitHub),
    shape("ghr_", Class::Word, 20, Kind::GitHub),
    shape("glpat-", Class::Dotted, 16, Kind::GitLab),
    shape("gldt-", Class::Url, 16, Kind::GitLab),
    shape("glrt-", Class::Dotted, 16, Kind::GitLab),
    shape("glcbt-", Class::Url, 16, Kind::GitLab),
    shape("glptt-", Class::Url, 16, Kind::GitLab),
    shape("glft-", Class::Url, 16, Kind::GitLab),
    shape("glsoat-", Class::Url, 16, Kind::GitLab),
    shape("glagent-", Class::Url, 16, Kind::GitLab),
    shape("gloas-", Class::Url, 16, Kind::GitLab),
    shape("AIza", Class::Url, 30, Kind::Google),
    shape("GOCSPX-", Class::Url, 20, Kind::Google),
    shape("ya29.", Class::Url, 20, Kind::Google),
    shape("sk_live_", Class::Alnum, 10, Kind::Stripe),
    shape("sk_test_", Class::Alnum, 10, Kind::Stripe),
    shape("rk_live_", Class::Alnum, 10, Kind::Stripe),
    shape("rk_test_", Class::Alnum, 10, Kind::Stripe),
    shape("whsec_", Class::Token, 16, Kind::Stripe),
    shape("xoxb-", Class::Dotted, 10, Kind::Slack),
    shape("xoxp-", Class::Dotted, 10, Kind::Slack),
    shape("xoxa-", Class::Dotted, 10, Kind::Slack),
    shape("xoxr-", Class::Dotted, 10, Kind::Slack),
    shape("xoxs-", Class::Dotted, 10, Kind::Slack),
    shape("xoxo-", Class::Dotted, 10, Kind::Slack),
    shape("xoxc-", Class::Dotted, 10, Kind::Slack),
    shape("xoxd-", Class::Dotted, 10, Kind::Slack),
    shape("xoxe-", Class::Dotted, 10, Kind::Slack),
    shape("xoxe.xoxp-", Class::Dotted, 10, Kind::Slack),
    shape("xoxe.xoxb-", Class::Dotted, 10, Kind::Slack),
    shape("xapp-", Class::Dotted, 10, Kind::Slack),
    behind("hooks.slack.com/services/", Class::Path, 12, Kind::Slack),
    behind("hooks.slack.com/workflows/", Class::Path, 12, Kind::Slack),
    behind("hooks.slack.com/triggers/", Class::Path, 12, Kind::Slack),
    behind("discord.com/api/webhooks/", Class::Path, 24, Kind::Vendor),
    behind("discordapp.com/api/webhooks/", Class::Path, 24, Kind::Vendor),
    vague("npm_", Class::Alnum, 30, Kind::Npm),
    vague("hf_", Class::Alnum, 20, Kind::HuggingFace),
    shape("api_org_", Class::Alnum, 20, Kind::HuggingFace),
    shape("pypi-AgE", Class::Url, 16, Kind::Vendor),
    shape("dckr_pat_", Class::Url, 20, Kind::Vendor),
    shape("dop_v1_", Class::Alnum, 32, Kind::Vendor),
    shape("SG.", Class::Dotted, 40, Kind::Vendor),
    shape("lin_api_", Class::Alnum, 20, Kind::Vendor),
    shape("shpat_", Class::Alnum, 20, Kind::Vendor),
    shape("rubygems_", Class::Alnum, 20, Kind::Vendor),
    vague("gsk_", Class::Alnum, 20, Kind::Vendor),
    shape("ATATT3x", Class::Token, 20, Kind::Vendor),
    shape("AGE-SECRET-KEY-1", Class::Upper, 20, Kind::PrivateKey),
];

/// Bytes behind a prefix that are looked at.
const SEEN_BYTES: usize = 64;
/// The head of a signed document, at most.
const JWT_HEAD_BYTES: usize = 1024;
const JWT_PART_BYTES_MIN: usize = 8;

/// Behind the last place of the table.
const NO_MORE: usize = SHAPES.len();

/// For each byte the place of the first shape that begins with it, and for
/// each shape the place of the next that begins alike.
const FIRST: ([usize; 256], [usize; SHAPES.len()]) = {
    let (mut first, mut next) = ([NO_MORE; 256], [NO_MORE; SHAPES.len()]);
    let mut index = SHAPES.len();
    while index > 0 {
        index -= 1;
        let byte = SHAPES[index].prefix.as_bytes()[0] as usize;
        next[index] = first[byte];
        first[byte] = index;
    }
    (first, next)
};

/// The shapes that begin with this byte, in their order.
fn shapes(byte: u8) -> impl Iterator<Item = &'static Shape> {
    static TABLE: ([usize; 256], [usize; SHAPES.len()]) = FIRST;
    let first = TABLE.0[usize::from(byte)];
    let places = std::iter::successors(Some(first), |place| TABLE.1.get(*place).copied());
    places.map_while(|place| SHAPES.get(place))
}

pub(super) fn find(window: &Window<'_>, at: usize) -> Look<Option<Found>> {
    let Some(byte) = window.byte(at)? else { return Ok(None) };
    for shape in shapes(byte) {
        let Some(start) = window.exact(at, shape.prefix)? else { continue };
        let run = run(window, shape.class, start, SEEN_BYTES)?;
        let telling = !shape.vague || run.known || !judge::is_wordy(window.seen(start, run.end));
        if run.is_long(shape.bytes_min) && telling {
            let start = if shape.whole { at } else { start };
            let (end, open) = (run.end, Some(shape.class));
            return Ok(Some(Found { start, end, open, kind: shape.kind }));
        }
        return Ok(None);
    }
    jwt(window, at)
}

/// A signed or sealed document: base64 of `{"…`, a dot, and more of it.
fn jwt(window: &Window<'_>, at: usize) -> Look<Option<Found>> {
    if window.exact(at, "eyJ")?.is_none() {
        return Ok(None);
    }
    let head = run(window, Class::Url, at, JWT_HEAD_BYTES)?;
    if !head.is_long(JWT_PART_BYTES_MIN) || window.byte(head.end)? != Some(b'.') {
        return Ok(None);
    }
    let part = run(window, Class::Url, head.end + 1, JWT_PART_BYTES_MIN)?;
    let found = Found { start: at, end: part.end, open: Some(Class::Dotted), kind: Kind::Jwt };
    Ok(part.is_long(JWT_PART_BYTES_MIN).then_some(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_leads_to_all_shapes_that_begin_with_it_in_their_order() {
        for byte in 0..=u8::MAX {
            let found: Vec<&str> = shapes(byte).map(|shape| shape.prefix).collect();
            let prefixes = SHAPES.iter().map(|shape| shape.prefix);
            let all: Vec<&str> = prefixes.filter(|prefix| prefix.as_bytes()[0] == byte).collect();
            assert_eq!(found, all, "{byte}");
        }
    }
}
