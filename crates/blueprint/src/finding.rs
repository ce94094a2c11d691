//! What a check has to say about a file, as plain data. The codes are stable:
//! people filter by them, and a page explains each.

use std::fmt;
use std::ops::Range;

use serde::{Serialize, Serializer};

use crate::NodeId;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
}

/// One thing that is wrong, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub rule: Rule,
    pub severity: Severity,
    /// One sentence that a newcomer understands, without the place.
    pub message: String,
    /// What to write instead, or what to do next.
    pub suggestion: Option<String>,
    pub node: Option<NodeId>,
    /// Bytes of the file.
    pub span: Range<usize>,
    /// Where the span begins, from 1, in characters.
    pub line: usize,
    pub column: usize,
    /// Other places that explain the finding, each with a short label.
    pub related: Vec<(Range<usize>, String)>,
    /// The change that does what the suggestion says, where that is exact.
    pub fix: Option<Fix>,
}

/// A change of the file's bytes; everything else stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    pub span: Range<usize>,
    pub text: String,
    /// Nothing else can have been meant, so it may be made unasked.
    pub safe: bool,
}

macro_rules! rules {
    ($($rule:ident $code:literal $title:literal)+) => {
        /// A named check. The list is closed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $(#[doc = $title] $rule,)+
        }

        impl Rule {
            /// Every rule, in the order of the reference page.
            pub const ALL: &[Self] = &[$(Self::$rule),+];

            /// The word that stands for the rule in output and never changes.
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$rule => $code,)+
                }
            }

            /// What the rule reports, in one line.
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$rule => $title,)+
                }
            }
        }
    };
}

rules! {
    // The file.
    TooLarge "too_large" "The file is larger than a blueprint may be"
    NotUtf8 "not_utf8" "The file is not UTF-8 text"
    MissingFrontMatter "missing_front_matter" "The first line is not `---`"
    UnclosedFrontMatter "unclosed_front_matter" "No line `---` ends the front matter"
    Syntax "syntax" "The front matter is not valid YAML"
    UnsupportedYaml "unsupported_yaml" "An anchor, alias, tag, merge key or second document"
    TooDeep "too_deep" "The front matter is nested too deeply"
    DuplicateKey "duplicate_key" "One key twice in a mapping"

    // Keys and their values.
    MissingKey "missing_key" "A key that must be there is absent"
    UnknownKey "unknown_key" "A key that nothing reads"
    InvalidValue "invalid_value" "The value of a key has the wrong form"
    UnsupportedSchema "unsupported_schema" "A format number that this program does not know"
    InvalidId "invalid_id" "An id that no path or template can name"
    InvalidTimeout "invalid_timeout" "A timeout that is not a length of time"
    InvalidRetry "invalid_retry" "A `retry` that says nothing, or something impossible"
    InvalidBudget "invalid_budget" "A budget that limits nothing"
    InvalidProve "invalid_prove" "A `prove` that checks nothing, or nothing that can be checked"
    TooMany "too_many" "More nodes or edges than a graph may have"
    DuplicateNodeId "duplicate_node_id" "One id for two nodes"
    DuplicateBlueprintId "duplicate_blueprint_id" "One id for two blueprints of a library"

    // Node types and their fields.
    UnknownNodeType "unknown_node_type" "A node type that does not exist"
    UnsupportedNodeType "unsupported_node_type" "A node type that cannot run yet"
    InvalidParent "invalid_parent" "A parent that is no `loop` and no `for_each`"
    MissingRequiredField "missing_required_field" "A required field is absent"
    BlankRequiredField "blank_required_field" "A required field is empty"
    UnknownField "unknown_field" "A field that the node type does not have"
    InvalidFieldValue "invalid_field_value" "The value of a field has the wrong form"
    InvalidSchema "invalid_schema" "A schema that cannot check anything"
    InvalidCondition "invalid_condition" "A condition that cannot be read"
    InvalidLoopMaxIterations "invalid_loop_max_iterations" "A number of rounds that is none"
    InvalidTools "invalid_tools" "Tools without `mode: custom`, or that mode without tools"
    InvalidSession "invalid_session" "A session that cannot be continued"
    InvalidWait "invalid_wait" "A wait for nothing, or for two things"
    EmptyDecisionChoices "empty_decision_choices" "A decision without choices"
    InvalidDecisionChoice "invalid_decision_choice" "A choice that cannot be a port"
    DuplicateDecisionChoice "duplicate_decision_choice" "One choice twice"

    // The graph.
    EmptyGraph "empty_graph" "A blueprint without nodes"
    MissingTrigger "missing_trigger" "No node says how a run begins"
    MultipleTriggers "multiple_triggers" "Several nodes say how a run begins"
    UnreachableNode "unreachable_node" "A node to which nothing leads from the trigger"
    CycleDetected "cycle_detected" "Nodes that wait for each other"
    DanglingEdge "dangling_edge" "An edge to or from a node that does not exist"
    DuplicateEdge "duplicate_edge" "One edge twice"
    UnknownOutputPort "unknown_output_port" "An edge from a port that the node does not have"
    UnknownInputPort "unknown_input_port" "An edge into a port that the node does not have"
    UnconnectedDecisionChoice "unconnected_decision_choice" "A choice that leads nowhere"

    // The nodes inside of a loop or a `for_each`.
    NestedLoopUnsupported "nested_loop_unsupported" "A loop inside of a loop"
    EmptyLoopBody "empty_loop_body" "A loop without nodes inside"
    MissingLoopBodyEntry "missing_loop_body_entry" "No edge leads into the body of a loop"
    UnreachableLoopBody "unreachable_loop_body" "A node of a body to which its entry does not lead"
    LoopBodyExternalInput "loop_body_external_input" "An edge into a body from outside"
    LoopBodyExternalOutput "loop_body_external_output" "An edge out of a body"

    // Templates.
    InvalidTemplate "invalid_template" "A template that cannot be read"
    UnsafeShellTemplate "unsafe_shell_template" "A value where the shell would run or change it"
    UnknownTemplateNode "unknown_template_node" "A template that names no node of this blueprint"
    TemplateNotUpstream "template_not_upstream" "A value that is not there on every path"
    TemplateOutOfScope "template_out_of_scope" "A value that this node can never see"
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} [{}]", self.line, self.column, self.message, self.rule.code())
    }
}

impl Finding {
    /// A finding whose line and column are filled in when the file is known.
    pub(crate) fn new(
        rule: Rule,
        severity: Severity,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            rule,
            severity,
            message: message.into(),
            suggestion: None,
            node: None,
            span,
            line: 1,
            column: 1,
            related: Vec::new(),
            fix: None,
        }
    }

    pub(crate) fn suggest(&mut self, suggestion: impl Into<String>) -> &mut Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// Says which node it is about; an empty id is that of no node.
    pub(crate) fn of(&mut self, node: &str) -> &mut Self {
        self.node = Some(node).filter(|node| !node.is_empty()).map(NodeId::new);
        self
    }

    pub(crate) fn fix(&mut self, fix: Option<Fix>) -> &mut Self {
        self.fix = fix;
        self
    }

    pub(crate) fn relate(&mut self, span: Range<usize>, label: impl Into<String>) -> &mut Self {
        self.related.push((span, label.into()));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_rules_share_a_code_and_every_code_is_one_word() {
        let mut codes: Vec<_> = Rule::ALL.iter().map(|rule| rule.code()).collect();
        assert!(
            codes.iter().all(|c| c
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'))
        );
        let count = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), count);
    }
}
