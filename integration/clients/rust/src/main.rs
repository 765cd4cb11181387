//! rslock through the proxy, for all that a lock is asked to do. The library is
//! not modified, and is told nothing but the address.
//!
//! usage: rslock-through-the-proxy HOST PORT

mod counter;
mod scenarios;

use std::process::ExitCode;

const LIBRARY: &str = "rslock";
const VERSION: &str = "0.10.0";

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [host, port] = arguments.as_slice() else {
        eprintln!("usage: rslock-through-the-proxy HOST PORT");
        return ExitCode::from(2);
    };
    let address = format!("redis://{host}:{port}/");

    let mut passed = Vec::new();
    let mut failed = false;
    let mut judge = |what: &str, outcome: Result<String, String>| match outcome {
        Ok(said) => passed.push(said),
        Err(why) => {
            failed = true;
            println!("FAIL {LIBRARY} {VERSION}: {what}: {why}");
        }
    };

    for (what, outcome) in scenarios::run_all(&address).await {
        judge(what, outcome.map(|()| what.to_string()));
    }
    println!("counter begins {LIBRARY}");
    let outcome = counter::run(&address).await;
    println!("counter ends {LIBRARY}");
    judge("guarded counter", outcome);

    if failed {
        return ExitCode::FAILURE;
    }
    println!("ok {LIBRARY} {VERSION}: {}", passed.join(", "));
    ExitCode::SUCCESS
}
