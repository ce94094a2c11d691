//! Node types that an agent carries out, or that reach an agent.

use super::{ASK, Actor, Category, Field, FieldKind, IN, NodeType, OUT, Outputs, Runs, SAFE};

pub(super) static TYPES: &[NodeType] = &[TASK, DECISION, MESSAGE_SEND, MEMORY_COMMIT];

const AGENT: Field = Field::new(
    "agent",
    "Agent",
    FieldKind::AgentRef,
    "Who does it: `role:<name>`, `class:<name>`, or the name of an agent or provider.",
)
.required()
.templated();

const PROMPT: Field =
    Field::new("prompt", "Prompt", FieldKind::Prompt, "What the agent is asked to do.")
        .required()
        .templated();

const PROVIDER: Field = Field::new(
    "provider",
    "Provider",
    FieldKind::Plain,
    "The program that does it, where the run was not told another one for the agent.",
);

const MODEL: Field =
    Field::new("model", "Model", FieldKind::Plain, "The model, in the provider's own words.");

const MODE: Field = Field::new(
    "mode",
    "Mode",
    FieldKind::Enum { options: &["plan", "edit", "full", "custom"] },
    "What the agent may do: `plan` reads, `edit` writes files of the workspace, `full` does all, \
     `custom` uses the `tools` alone.",
);

const TOOLS: Field = Field::new(
    "tools",
    "Tools",
    FieldKind::Plain,
    "With `mode: custom`, the tools that the agent may use, in the provider's own words.",
)
.list();

const SESSION: Field = Field::new(
    "session",
    "Session",
    FieldKind::Session,
    "`fresh`, or `continue:<node>` to go on in the session of a task or decision before it.",
)
.default("fresh");

const TASK: NodeType = NodeType {
    id: "task",
    actor: Actor::Agent,
    category: Category::Agents,
    label: "Task",
    description: "Gives an agent a prompt. The output is the JSON of its reply, or `{text}`.",
    runs: Some(Runs::Task),
    version: 1,
    fields: &[
        AGENT,
        PROMPT,
        Field::new(
            "output_schema",
            "Output schema",
            FieldKind::JsonSchema,
            "What the reply must look like; another one gets one corrective turn, then the node fails.",
        ),
        PROVIDER,
        MODEL,
        MODE,
        TOOLS,
        SESSION,
    ],
    inputs: IN,
    outputs: OUT,
    timeout: true,
    prove: true,
    retry: true,
    errors: true,
    repeat: ASK,
};

const DECISION: NodeType = NodeType {
    id: "decision",
    actor: Actor::Agent,
    category: Category::Agents,
    label: "Decision",
    description: "Lets an agent choose which way the run goes.",
    runs: Some(Runs::Decision),
    version: 1,
    fields: &[
        AGENT,
        PROMPT,
        Field::new(
            "choices",
            "Choices",
            FieldKind::BranchPort,
            "The ways out, each a word; every one needs an edge.",
        )
        .required()
        .list(),
        PROVIDER,
        MODEL,
        MODE,
        TOOLS,
        SESSION,
    ],
    inputs: IN,
    outputs: Outputs::FromField("choices"),
    timeout: true,
    prove: true,
    retry: true,
    errors: true,
    repeat: ASK,
};

const MESSAGE_SEND: NodeType = NodeType {
    id: "message_send",
    actor: Actor::Engine,
    category: Category::Agents,
    label: "Send message",
    description: "Sends a file of the run to an agent.",
    runs: None,
    version: 1,
    fields: &[
        Field::new("recipient", "Recipient", FieldKind::AgentRef, "The agent who gets it.")
            .required()
            .templated(),
        Field::new("artifact_path", "File", FieldKind::Path, "A file in the folder of the run.")
            .required()
            .templated(),
    ],
    inputs: IN,
    outputs: OUT,
    timeout: false,
    prove: false,
    retry: true,
    errors: true,
    repeat: ASK,
};

const MEMORY_COMMIT: NodeType = NodeType {
    id: "memory_commit",
    actor: Actor::Engine,
    category: Category::Data,
    label: "Commit memory",
    description: "Writes the memory batch that another node made.",
    runs: None,
    version: 1,
    fields: &[
        Field::new("source_node", "Source", FieldKind::Text, "The node whose output is the batch.")
            .required()
            .templated(),
        Field::new("agent_id", "Agent", FieldKind::Text, "Whose memory it is.")
            .required()
            .templated()
            .default("{{trigger.output.agent_id}}"),
    ],
    inputs: IN,
    outputs: OUT,
    timeout: false,
    prove: false,
    retry: false,
    errors: false,
    repeat: SAFE,
};
