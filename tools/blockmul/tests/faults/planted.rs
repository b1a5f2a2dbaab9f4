//! Mistakes made on purpose. The sweep is sound only if it finds each planted mistake.
use super::{
    process::Ran,
    subjects::{Subject, this},
    verdict::{Expected, Verdict, judge},
    workshop::Workshop,
};
use std::{error::Error, fs, path::Path, process::ExitCode, thread, time::Duration};

const OUTPUT: &[u8] = b"whole";

/// Each mistake, and the verdict that it must get.
const MISTAKES: [(&str, Verdict); 12] = [
    ("planted none", Verdict::Same),
    ("planted error", Verdict::Error),
    ("planted wrong", Verdict::Wrong),
    ("planted left", Verdict::Left),
    ("planted beside", Verdict::Left),
    ("planted panic", Verdict::Crash),
    ("planted abort", Verdict::Crash),
    ("planted hang", Verdict::Hang),
    ("planted silent", Verdict::Silent),
    ("planted status", Verdict::Status),
    ("planted misuse", Verdict::Misuse),
    ("planted leak", Verdict::Leak),
];

/// Makes the mistake with this name.
pub fn main(mistake: &str, output: &Path) -> ExitCode {
    let write = |path: &Path| fs::write(path, OUTPUT).expect("the folder is there");
    let error = |status| {
        eprintln!("error: planted");
        ExitCode::from(status)
    };
    match mistake {
        "none" => write(output),
        "error" => return error(5),
        "wrong" => fs::write(output, "half").expect("the folder is there"),
        "left" => {
            write(output);
            return error(4);
        }
        "beside" => {
            write(output);
            write(&output.with_extension("half"));
        }
        "panic" => panic!("planted"),
        "abort" => std::process::abort(),
        "hang" => thread::sleep(Duration::from_secs(1000)),
        "silent" => return ExitCode::from(5),
        "status" => return error(7),
        "misuse" | "leak" => {
            let device = opencl3::device::get_all_devices(opencl3::device::CL_DEVICE_TYPE_ALL).expect("devices")[0];
            let context =
                opencl3::context::context::create_context(&[device], std::ptr::null(), None, std::ptr::null_mut());
            let context = context.expect("a context");
            let releases = if mistake == "misuse" { 2 } else { 0 };
            for _ in 0..releases {
                // SAFETY: `opencl.c` counts the second release and keeps it from the real library.
                let _ = unsafe { opencl3::context::context::release_context(context) };
            }
            write(output);
        }
        _ => panic!("no mistake {mistake}"),
    }
    ExitCode::SUCCESS
}

/// Checks that each mistake gets its verdict.
pub fn are_seen(workshop: &Workshop) -> Result<(), Box<dyn Error>> {
    for (line, verdict) in MISTAKES {
        let limit = Duration::from_secs(if verdict == Verdict::Hang { 1 } else { 40 });
        let subject = Subject { limit, ..this("planted", line, 0) };
        let ran = workshop.run(&subject, &workshop.bench()?, None)?;
        let seen = as_if(&ran, false).0;
        if seen != verdict {
            return Err(format!("{line} passes for {seen:?}: {}", ran.stderr).into());
        }
        if verdict == Verdict::Error && as_if(&ran, true).0 != Verdict::Dead {
            return Err("an error passes for a device that works again".into());
        }
    }
    Ok(())
}

fn as_if(ran: &Ran, recovers: bool) -> (Verdict, String) {
    judge(ran, &Expected { name: "bits", output: OUTPUT, varies: false, before: None, recovers })
}
