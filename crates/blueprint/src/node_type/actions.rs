//! Node types that do something without an agent.

use super::{ASK, Actor, Category, Field, FieldKind, IN, NodeType, OUT, Runs, SAFE};

pub(super) static TYPES: &[NodeType] = &[SHELL, SCRIPT, HTTP, STATE, NOTIFY, SUB_AUTOMATION];

const ENV: Field = Field::new(
    "env",
    "Environment",
    FieldKind::EnvMap,
    "Variables that the command gets beyond the usual ones.",
)
.templated();

const ENV_PASS: Field = Field::new(
    "env_pass",
    "Passed on",
    FieldKind::EnvName,
    "Names of variables that the command gets from outside, when they are set there.",
)
.list();

const SHELL: NodeType = NodeType {
    id: "shell",
    actor: Actor::Engine,
    category: Category::Actions,
    label: "Shell command",
    description: "Runs a command with `sh`. The output is `{exit_code, stdout, stderr}`.",
    runs: Some(Runs::Shell),
    version: 1,
    fields: &[
        Field::new(
            "command",
            "Command",
            FieldKind::Code { language: "sh" },
            "The command. A value in it becomes an environment variable, never shell text.",
        )
        .required()
        .templated(),
        Field::new("cwd", "Folder", FieldKind::Path, "Where it runs; else the workspace.")
            .templated(),
        ENV,
        ENV_PASS,
    ],
    inputs: IN,
    outputs: OUT,
    timeout: true,
    prove: true,
    retry: true,
    errors: true,
    repeat: ASK,
};

const SCRIPT: NodeType = NodeType {
    id: "script",
    actor: Actor::Engine,
    category: Category::Actions,
    label: "Script",
    description: "Runs a script file. The output is `{exit_code, stdout, stderr}`.",
    runs: Some(Runs::Script),
    version: 1,
    fields: &[
        Field::new(
            "runtime",
            "Runtime",
            FieldKind::Enum { options: &["python", "node", "sh"] },
            "What runs the file.",
        )
        .required(),
        Field::new("path", "File", FieldKind::Path, "The script, from the workspace.")
            .required()
            .templated(),
        Field::new("args", "Arguments", FieldKind::Text, "What the script is given, in order.")
            .list()
            .templated(),
        ENV,
        ENV_PASS,
    ],
    inputs: IN,
    outputs: OUT,
    timeout: true,
    prove: true,
    retry: true,
    errors: true,
    repeat: ASK,
};

const HTTP: NodeType = NodeType {
    id: "http",
    actor: Actor::Engine,
    category: Category::Actions,
    label: "HTTP request",
    description: "Asks a web address. The output is `{status, headers, body}`; a status from 400 on is a failure.",
    runs: Some(Runs::Http),
    version: 1,
    fields: &[
        Field::new(
            "method",
            "Method",
            FieldKind::Enum { options: &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] },
            "What is asked for.",
        )
        .default("GET"),
        Field::new("url", "Address", FieldKind::Text, "An http or https address.")
            .required()
            .templated(),
        Field::new("headers", "Headers", FieldKind::HeaderMap, "Headers of the request.")
            .templated(),
        Field::new("body", "Body", FieldKind::LongText, "What is sent.").templated(),
        Field::new(
            "allow_private",
            "Private addresses",
            FieldKind::Bool,
            "Whether this machine and private networks may be asked.",
        )
        .default("false"),
    ],
    inputs: IN,
    outputs: OUT,
    timeout: true,
    prove: true,
    retry: true,
    errors: true,
    repeat: ASK,
};

const STATE: NodeType = NodeType {
    id: "state",
    actor: Actor::Engine,
    category: Category::Data,
    label: "State",
    description: "Reads or changes the storage of the run.",
    runs: Some(Runs::State),
    version: 1,
    fields: &[
        Field::new(
            "op",
            "Operation",
            FieldKind::Enum { options: &["get", "set", "merge", "delete"] },
            "What is done with the entries.",
        )
        .required(),
        Field::new(
            "entries",
            "Entries",
            FieldKind::KvMap,
            "Keys with values; `get` without entries gives the whole storage.",
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

const NOTIFY: NodeType = NodeType {
    id: "notify",
    actor: Actor::Engine,
    category: Category::Actions,
    label: "Notify",
    description: "Tells the operator something.",
    runs: Some(Runs::Notify),
    version: 1,
    fields: &[Field::new("message", "Message", FieldKind::LongText, "What is said.")
        .required()
        .templated()],
    inputs: IN,
    outputs: OUT,
    timeout: false,
    prove: false,
    retry: false,
    errors: false,
    repeat: SAFE,
};

const SUB_AUTOMATION: NodeType = NodeType {
    id: "sub_automation",
    actor: Actor::Engine,
    category: Category::Actions,
    label: "Sub-automation",
    description: "Runs another blueprint as a run of its own and waits for its end. The output is `{run_id, result}`, where the result is the output of its last node.",
    runs: Some(Runs::SubAutomation),
    version: 1,
    fields: &[
        Field::new(
            "automation",
            "Automation",
            FieldKind::AutomationRef,
            "The id of the other blueprint.",
        )
        .required(),
        Field::new("input", "Input", FieldKind::KvMap, "The input of its run.").templated(),
    ],
    inputs: IN,
    outputs: OUT,
    timeout: true,
    prove: true,
    retry: true,
    errors: true,
    repeat: ASK,
};
