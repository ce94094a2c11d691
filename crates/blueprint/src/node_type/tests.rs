//! The registry as its readers see it.

use std::collections::BTreeSet;

use super::*;

#[test]
fn no_two_types_share_an_id_and_no_two_fields_of_a_type() {
    let ids: BTreeSet<_> = all().map(|t| t.id).collect();
    assert_eq!(ids.len(), all().count());
    for node_type in all() {
        let fields: BTreeSet<_> = node_type.fields.iter().map(|f| f.id).collect();
        assert_eq!(fields.len(), node_type.fields.len(), "{}", node_type.id);
    }
}

#[test]
fn ports_from_a_field_come_from_a_required_list_of_ports() {
    for node_type in all() {
        if let Outputs::FromField(id) = node_type.outputs {
            let field = node_type.field(id).unwrap();
            assert!(field.required && field.multiple && field.kind == FieldKind::BranchPort);
        }
    }
}

#[test]
fn the_types_that_run_are_these() {
    let runs: Vec<_> = all().filter(|t| t.supported()).map(|t| t.id).collect();
    insta::assert_snapshot!(runs.join(" "), @"manual_trigger branch join approval task decision shell script state notify");
    let not_yet: Vec<_> = all().filter(|t| !t.supported()).map(|t| t.id).collect();
    insta::assert_snapshot!(not_yet.join(" "), @"loop for_each wait message_send memory_commit http sub_automation");
}

#[test]
fn the_listing_has_the_shape_that_its_readers_know() {
    insta::assert_json_snapshot!(find("decision").unwrap());
}

#[test]
fn no_type_that_runs_has_a_field_whose_kind_is_not_judged_yet() {
    let fields = all().filter(|t| t.supported()).flat_map(|t| t.fields);
    for field in fields {
        let judged = !matches!(
            field.kind,
            FieldKind::Bool | FieldKind::Number | FieldKind::Duration | FieldKind::AutomationRef
        );
        assert!(judged, "{}", field.id);
    }
}
