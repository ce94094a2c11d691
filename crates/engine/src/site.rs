//! Where in a run something happens: at a node, and inside of a `for_each`
//! at a node for one item.

use std::fmt;

use blueprint::NodeId;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A node, and the item that it is run for. Written `fix`, or `fix[3]` for
/// the item with the index 3.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    pub node: NodeId,
    pub item: Option<u32>,
}

impl Site {
    pub fn of(node: &NodeId) -> Self {
        Self { node: node.clone(), item: None }
    }

    pub fn at(node: &NodeId, item: Option<u32>) -> Self {
        Self { node: node.clone(), item }
    }

    /// Reads what [`fmt::Display`] writes. Any other text is a node's name,
    /// which no node may have.
    pub fn parse(text: &str) -> Self {
        let item = text.strip_suffix(']').and_then(|text| text.rsplit_once('['));
        let item = item.and_then(|(node, item)| Some((node, item.parse::<u32>().ok()?)));
        match item {
            Some((node, item)) => Self { node: NodeId::new(node), item: Some(item) },
            None => Self { node: NodeId::new(text), item: None },
        }
    }
}

impl From<NodeId> for Site {
    fn from(node: NodeId) -> Self {
        Self { node, item: None }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.item {
            Some(item) => write!(f, "{}[{item}]", self.node),
            None => fmt::Display::fmt(&self.node, f),
        }
    }
}

impl Serialize for Site {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.item {
            Some(_) => serializer.collect_str(self),
            None => self.node.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Site {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::parse(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_reads_as_it_is_written() {
        for text in ["fix", "fix[0]", "fix[4294967295]", "fix[x]", "fix[", "[3]", "fix[4294967296]"]
        {
            assert_eq!(Site::parse(text).to_string(), text);
        }
        assert_eq!(Site::parse("fix[7]"), Site { node: NodeId::new("fix"), item: Some(7) });
        assert_eq!(Site::parse("fix"), Site::of(&NodeId::new("fix")));
    }

    #[test]
    fn the_sites_of_one_node_stand_together_in_the_order_of_their_items() {
        let mut sites = ["fix[10]", "fixes", "fix[9]", "fix"].map(Site::parse);
        sites.sort();
        assert_eq!(sites.map(|site| site.to_string()), ["fix", "fix[9]", "fix[10]", "fixes"]);
    }
}
