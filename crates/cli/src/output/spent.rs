//! What the agents of a run have used, in a line.

use host::api::Spending;

/// Nothing where no agent was asked. A sum that lacks something says so.
pub(crate) fn line(spending: &Spending) -> Option<String> {
    let Spending { calls, tokens, cost_micros, untold_tokens, untold_cost, .. } = spending;
    if *calls == 0 && *tokens == 0 && *cost_micros == 0 {
        return None;
    }
    let noun = if *calls == 1 { "call" } else { "calls" };
    let mut parts = vec![format!("{calls} {noun}")];
    parts.push(sum(*calls, *untold_tokens, format!("{tokens} tokens"), "tokens unknown"));
    let dollars = format!("${}.{:04}", cost_micros / 1_000_000, cost_micros % 1_000_000 / 100);
    parts.push(sum(*calls, *untold_cost, dollars, "cost unknown"));
    Some(parts.join(", "))
}

fn sum(calls: u64, untold: u64, told: String, unknown: &str) -> String {
    match untold {
        0 => told,
        _ if untold >= calls => unknown.to_owned(),
        _ => format!("{told} and {untold} untold"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_says_what_it_lacks() {
        let spent = |calls, tokens, untold_tokens, cost_micros, untold_cost| {
            line(&Spending {
                calls,
                tokens,
                untold_tokens,
                cost_micros,
                untold_cost,
                ..Spending::default()
            })
        };
        assert_eq!(spent(0, 0, 0, 0, 0), None);
        assert_eq!(spent(1, 0, 1, 0, 1).unwrap(), "1 call, tokens unknown, cost unknown");
        let told = "3 calls, 700 tokens and 1 untold, $1.0502";
        assert_eq!(spent(3, 700, 1, 1_050_290, 0).unwrap(), told);
    }
}
