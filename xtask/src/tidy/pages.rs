//! Pages in `docs` and at the root: links lead somewhere, and no path belongs
//! to one machine. Pure.

use crate::finding::Finding;
use crate::tree::Tree;

/// Beginnings of paths that exist on one machine only.
const MACHINE: [&str; 5] = ["/srv/", "/tmp/", "/root/", "/home/", "/Users/"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.with_extension("md")
        .filter(|(path, _)| path.starts_with("docs/") || !path.contains('/'))
        .flat_map(|(path, text)| {
            let mut findings = machine_paths(path, text);
            findings.extend(broken_links(path, text, tree));
            findings
        })
        .collect()
}

fn machine_paths(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for start in MACHINE {
            let begins_here = |offset: usize| {
                let before = line[..offset].chars().next_back();
                before.is_none_or(|c| !c.is_alphanumeric() && !"._-/~}>$*".contains(c))
            };
            if line.match_indices(start).any(|(offset, _)| begins_here(offset)) {
                let message = format!("a path under {start} exists on one machine only");
                findings.push(Finding::new(path, index + 1, message));
            }
        }
    }
    findings
}

fn broken_links(path: &str, text: &str, tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, target) in links(text) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (file, heading) = target.split_once('#').unwrap_or((target, ""));
        let Some(file) = resolve(path, file) else {
            findings.push(Finding::new(
                path,
                line,
                format!("link {target} leads out of the repository"),
            ));
            continue;
        };
        let exists = file.is_empty() || tree.paths.contains(&file);
        if !exists {
            findings.push(Finding::new(path, line, format!("link {target} leads nowhere")));
        } else if !heading.is_empty()
            && !tree.text(&file).is_none_or(|page| has_heading(page, heading))
        {
            findings.push(Finding::new(path, line, format!("link {target}: no such heading")));
        }
    }
    findings
}

/// Link targets outside of code, with their lines.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (index, line) in prose(text) {
        for (offset, _) in line.match_indices("](").filter(|(at, _)| !in_code(line, *at)) {
            let target = &line[offset + 2..];
            let end = target.find([')', ' ']).unwrap_or(target.len());
            found.push((index, target[..end].trim_matches(['<', '>'])));
        }
        let definition =
            line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]: "));
        if let Some((_, target)) = definition {
            found.extend(target.split_whitespace().next().map(|target| (index, target)));
        }
    }
    found
}

/// The lines outside of fenced code, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        (!fenced && !is_fence).then_some((index + 1, line))
    })
}

fn in_code(line: &str, offset: usize) -> bool {
    line[..offset].matches('`').count() % 2 == 1
}

/// The path that a link on a page means; nothing above the root.
fn resolve(page: &str, link: &str) -> Option<String> {
    if link.is_empty() {
        return Some(page.to_owned());
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

fn has_heading(page: &str, wanted: &str) -> bool {
    prose(page)
        .filter_map(|(_, line)| line.strip_prefix('#'))
        .any(|line| slug(line.trim_start_matches('#')) == wanted)
}

/// The name that a heading gets as a link target.
fn slug(heading: &str) -> String {
    heading
        .trim()
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(page: &str) -> Vec<String> {
        let mut tree = Tree::default();
        let other = "# A title\n## `state` and 2 more\n```\n# code\n```\n";
        for (path, text) in [("docs/page.md", page), ("docs/other.md", other), ("README.md", "")] {
            tree.files.insert(path.to_owned(), text.to_owned());
            tree.paths.push(path.to_owned());
        }
        tree.paths.push("docs".to_owned());
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        let page = "\
# Here
[a](other.md) [b](../README.md) [c](./other.md#state-and-2-more) [d](#here) [e](https://a.example/b)
[f](other.md \"title\") `[g](gone.md)` [h](../docs/)

[i]: other.md#a-title
```
[j](gone.md)
```
";
        assert_eq!(found(page), [""; 0]);
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        for (page, expected) in [
            ("[a](gone.md)", "docs/page.md:1: link gone.md leads nowhere"),
            (
                "\n[a](../../other/x.md)",
                "docs/page.md:2: link ../../other/x.md leads out of the repository",
            ),
            ("[a](other.md#code)", "docs/page.md:1: link other.md#code: no such heading"),
            ("[a](#b)", "docs/page.md:1: link #b: no such heading"),
            ("[a]: gone.md", "docs/page.md:1: link gone.md leads nowhere"),
        ] {
            assert_eq!(found(page), [expected]);
        }
    }

    #[test]
    fn paths_of_one_machine_are_found() {
        for bad in ["see /srv/main", "`/tmp/x`", "```\ncd /root/a\n```", "(/home/ada/x)"] {
            assert_eq!(found(bad).len(), 1, "{bad}");
        }
        for good in ["$XDG_STATE_HOME/srv/a", "a/tmp/b", "<home>/tmp/c", "~/srv/x", "in /var/tmp/x"]
        {
            assert_eq!(found(good), [""; 0], "{good}");
        }
    }
}
