//! A page for every rule: what it means, why it matters, a bad example and a
//! good one. The examples are checked: the bad one breaks exactly this rule,
//! the good one none. An example that does not begin with `---` leaves out the
//! first keys of its front matter.

use crate::{Rule, suggest};

static PAGES: &[(Rule, &str)] = &[
    (Rule::TooLarge, include_str!("explain/too_large.md")),
    (Rule::NotUtf8, include_str!("explain/not_utf8.md")),
    (Rule::MissingFrontMatter, include_str!("explain/missing_front_matter.md")),
    (Rule::UnclosedFrontMatter, include_str!("explain/unclosed_front_matter.md")),
    (Rule::Syntax, include_str!("explain/syntax.md")),
    (Rule::UnsupportedYaml, include_str!("explain/unsupported_yaml.md")),
    (Rule::TooDeep, include_str!("explain/too_deep.md")),
    (Rule::DuplicateKey, include_str!("explain/duplicate_key.md")),
    (Rule::MissingKey, include_str!("explain/missing_key.md")),
    (Rule::UnknownKey, include_str!("explain/unknown_key.md")),
    (Rule::InvalidValue, include_str!("explain/invalid_value.md")),
    (Rule::UnsupportedSchema, include_str!("explain/unsupported_schema.md")),
    (Rule::InvalidId, include_str!("explain/invalid_id.md")),
    (Rule::InvalidTimeout, include_str!("explain/invalid_timeout.md")),
    (Rule::InvalidRetry, include_str!("explain/invalid_retry.md")),
    (Rule::InvalidBudget, include_str!("explain/invalid_budget.md")),
    (Rule::InvalidProve, include_str!("explain/invalid_prove.md")),
    (Rule::TooMany, include_str!("explain/too_many.md")),
    (Rule::DuplicateNodeId, include_str!("explain/duplicate_node_id.md")),
    (Rule::DuplicateBlueprintId, include_str!("explain/duplicate_blueprint_id.md")),
    (Rule::UnknownNodeType, include_str!("explain/unknown_node_type.md")),
    (Rule::UnsupportedNodeType, include_str!("explain/unsupported_node_type.md")),
    (Rule::InvalidParent, include_str!("explain/invalid_parent.md")),
    (Rule::MissingRequiredField, include_str!("explain/missing_required_field.md")),
    (Rule::BlankRequiredField, include_str!("explain/blank_required_field.md")),
    (Rule::UnknownField, include_str!("explain/unknown_field.md")),
    (Rule::InvalidFieldValue, include_str!("explain/invalid_field_value.md")),
    (Rule::InvalidSchema, include_str!("explain/invalid_schema.md")),
    (Rule::InvalidCondition, include_str!("explain/invalid_condition.md")),
    (Rule::InvalidLoopMaxIterations, include_str!("explain/invalid_loop_max_iterations.md")),
    (Rule::InvalidTools, include_str!("explain/invalid_tools.md")),
    (Rule::InvalidSession, include_str!("explain/invalid_session.md")),
    (Rule::InvalidWait, include_str!("explain/invalid_wait.md")),
    (Rule::EmptyDecisionChoices, include_str!("explain/empty_decision_choices.md")),
    (Rule::InvalidDecisionChoice, include_str!("explain/invalid_decision_choice.md")),
    (Rule::DuplicateDecisionChoice, include_str!("explain/duplicate_decision_choice.md")),
    (Rule::EmptyGraph, include_str!("explain/empty_graph.md")),
    (Rule::MissingTrigger, include_str!("explain/missing_trigger.md")),
    (Rule::MultipleTriggers, include_str!("explain/multiple_triggers.md")),
    (Rule::UnreachableNode, include_str!("explain/unreachable_node.md")),
    (Rule::CycleDetected, include_str!("explain/cycle_detected.md")),
    (Rule::DanglingEdge, include_str!("explain/dangling_edge.md")),
    (Rule::DuplicateEdge, include_str!("explain/duplicate_edge.md")),
    (Rule::UnknownOutputPort, include_str!("explain/unknown_output_port.md")),
    (Rule::UnknownInputPort, include_str!("explain/unknown_input_port.md")),
    (Rule::UnconnectedDecisionChoice, include_str!("explain/unconnected_decision_choice.md")),
    (Rule::NestedLoopUnsupported, include_str!("explain/nested_loop_unsupported.md")),
    (Rule::EmptyLoopBody, include_str!("explain/empty_loop_body.md")),
    (Rule::MissingLoopBodyEntry, include_str!("explain/missing_loop_body_entry.md")),
    (Rule::UnreachableLoopBody, include_str!("explain/unreachable_loop_body.md")),
    (Rule::LoopBodyExternalInput, include_str!("explain/loop_body_external_input.md")),
    (Rule::LoopBodyExternalOutput, include_str!("explain/loop_body_external_output.md")),
    (Rule::InvalidTemplate, include_str!("explain/invalid_template.md")),
    (Rule::UnsafeShellTemplate, include_str!("explain/unsafe_shell_template.md")),
    (Rule::UnknownTemplateNode, include_str!("explain/unknown_template_node.md")),
    (Rule::TemplateNotUpstream, include_str!("explain/template_not_upstream.md")),
    (Rule::TemplateOutOfScope, include_str!("explain/template_out_of_scope.md")),
];

/// The page of a rule, as Markdown.
pub fn page(rule: Rule) -> &'static str {
    PAGES.iter().find(|(of, _)| *of == rule).map_or("", |(_, page)| page)
}

/// The rule with this code, whatever its case and with `-` for `_`; or the
/// nearest code, if one is near.
pub fn find(code: &str) -> Result<Rule, Option<&'static str>> {
    let wanted = code.trim().to_lowercase().replace('-', "_");
    let codes = || Rule::ALL.iter().map(|rule| rule.code());
    let found = Rule::ALL.iter().find(|rule| rule.code() == wanted);
    found.copied().ok_or_else(|| suggest::closest(&wanted, codes()))
}

#[cfg(test)]
mod tests;
