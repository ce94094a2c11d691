//! Node types that begin a run and steer it.

use durable::limits;

use super::{Actor, BODY, Category, Field, FieldKind, IN, NodeType, OUT, Outputs, Runs, SAFE};

pub(super) static TYPES: &[NodeType] =
    &[MANUAL_TRIGGER, BRANCH, LOOP, FOR_EACH, JOIN, APPROVAL, WAIT];

const MANUAL_TRIGGER: NodeType = NodeType {
    id: "manual_trigger",
    actor: Actor::Trigger,
    category: Category::Triggers,
    label: "Trigger",
    description: "Where a run begins. Its output is the input of the run.",
    runs: Some(Runs::ManualTrigger),
    version: 1,
    fields: &[Field::new(
        "input_schema",
        "Input schema",
        FieldKind::JsonSchema,
        "What the input must look like; a run with other input does not start.",
    )],
    inputs: &[],
    outputs: OUT,
    timeout: false,
    prove: false,
    retry: false,
    errors: false,
    repeat: SAFE,
};

const BRANCH: NodeType = NodeType {
    id: "branch",
    actor: Actor::Engine,
    category: Category::Control,
    label: "Branch",
    description: "Goes one of two ways, by a condition over the data of the run.",
    runs: Some(Runs::Branch),
    version: 1,
    fields: &[Field::new(
        "condition",
        "Condition",
        FieldKind::Condition,
        "A path such as `nodes.judge.output.worth_it`, or a CEL expression over paths.",
    )
    .required()],
    inputs: IN,
    outputs: Outputs::Fixed(&["on_true", "on_false"]),
    timeout: false,
    prove: false,
    retry: false,
    errors: false,
    repeat: SAFE,
};

const LOOP: NodeType = NodeType {
    id: "loop",
    actor: Actor::Engine,
    category: Category::Control,
    label: "Loop",
    description: "Repeats the nodes whose `parent` it is, until a condition holds. The output is `{iterations}`.",
    runs: Some(Runs::Loop),
    version: 1,
    fields: &[
        Field::new(
            "max_iterations",
            "Most rounds",
            FieldKind::Number { least: 1, most: limits::ITERATIONS_MAX },
            "After so many rounds the loop ends, whatever the condition says.",
        )
        .templated()
        .default("1"),
        Field::new(
            "until",
            "Until",
            FieldKind::Condition,
            "The loop ends after a round in which this holds.",
        ),
    ],
    inputs: IN,
    outputs: Outputs::Fixed(&[BODY, "done"]),
    timeout: false,
    prove: false,
    retry: false,
    errors: true,
    repeat: SAFE,
};

const FOR_EACH: NodeType = NodeType {
    id: "for_each",
    actor: Actor::Engine,
    category: Category::Control,
    label: "For each",
    description: "Runs the nodes whose `parent` it is once for each item of a list. The output is a list with `{index, status, output}` or `{index, status, error}` for each.",
    runs: Some(Runs::ForEach),
    version: 1,
    fields: &[
        Field::new(
            "items",
            "Items",
            FieldKind::Items,
            "A path that leads to a list, such as `nodes.find.output.files`, or `{{nodes.find.output.stdout | lines}}`.",
        )
        .required()
        .templated(),
        Field::new(
            "max_parallel",
            "At a time",
            FieldKind::Number { least: 1, most: limits::PARALLEL_MAX as u64 },
            "How many items are worked on at the same time.",
        )
        .default("4"),
        Field::new(
            "max_items",
            "Most items",
            FieldKind::Number { least: 1, most: limits::ITEMS_MAX },
            "A list with more items fails the node before the first is begun.",
        )
        .default("1000"),
        Field::new(
            "on_item_error",
            "After a failure",
            FieldKind::Enum { options: &["stop", "collect"] },
            "Whether a failed item ends the node, or is noted in its output.",
        )
        .default("stop"),
    ],
    inputs: IN,
    outputs: Outputs::Fixed(&[BODY, "done"]),
    timeout: false,
    prove: false,
    retry: false,
    errors: true,
    repeat: SAFE,
};

const JOIN: NodeType = NodeType {
    id: "join",
    actor: Actor::Engine,
    category: Category::Control,
    label: "Join",
    description: "Waits until every way into it is settled and one was taken.",
    runs: Some(Runs::Join),
    version: 1,
    fields: &[],
    inputs: IN,
    outputs: OUT,
    timeout: false,
    prove: false,
    retry: false,
    errors: false,
    repeat: SAFE,
};

const APPROVAL: NodeType = NodeType {
    id: "approval",
    actor: Actor::Engine,
    category: Category::Control,
    label: "Approval",
    description: "Waits for a person to approve or reject.",
    runs: Some(Runs::Approval),
    version: 1,
    fields: &[Field::new("prompt", "Question", FieldKind::LongText, "What the person is asked.")
        .templated()],
    inputs: IN,
    outputs: OUT,
    timeout: false,
    prove: false,
    retry: false,
    errors: false,
    repeat: SAFE,
};

const WAIT: NodeType = NodeType {
    id: "wait",
    actor: Actor::Engine,
    category: Category::Control,
    label: "Wait",
    description: "Lets time pass. The output is `{until}`.",
    runs: Some(Runs::Wait),
    version: 1,
    fields: &[
        Field::new("for", "For", FieldKind::Duration, "How long, such as `10m` or `3d`.")
            .templated(),
        Field::new(
            "until",
            "Until",
            FieldKind::Text,
            "A moment, such as `2027-01-31T09:00:00Z`; one that has passed waits for nothing.",
        )
        .templated(),
    ],
    inputs: IN,
    outputs: OUT,
    timeout: false,
    prove: false,
    retry: false,
    errors: false,
    repeat: SAFE,
};
