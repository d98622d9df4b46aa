//! Jobs on the real Slurm: three nodes on this machine, all classes of 2 to 4 pieces, one node killed in the middle.
//! The tables are those of `dsq generate`, byte for byte. And jobs that are killed for their memory. Skipped where there is
//! no Slurm.

use crate::dsq::{self, Bound};
use crate::serve::counts::four;
use crate::skip::skip;

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Three nodes and a controller with files of their own, killed when dropped.
struct Cluster {
    dir: PathBuf,
    daemons: BTreeMap<String, Bound>,
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn find(name: &str) -> Option<PathBuf> {
    ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].iter().map(|dir| Path::new(dir).join(name)).find(|path| path.exists())
}

const NODES: [&str; 3] = ["n1", "n2", "n3"];

impl Cluster {
    fn start(dir: &Path) -> Cluster {
        for sub in ["state", "spool", "log"] {
            fs::create_dir_all(dir.join(sub)).unwrap();
        }
        fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).unwrap();
        let key: Vec<u8> = (0..64u8).map(|i| i.wrapping_mul(73) ^ std::process::id() as u8).collect();
        fs::write(dir.join("munge.key"), key).unwrap();
        fs::set_permissions(dir.join("munge.key"), fs::Permissions::from_mode(0o400)).unwrap();
        fs::write(dir.join("slurm.conf"), configuration(dir)).unwrap();
        let mut cluster = Cluster { dir: dir.to_owned(), daemons: BTreeMap::new() };
        let at = |name: &str| dir.join(name).display().to_string();
        cluster.daemon(
            "munged",
            &[
                "--foreground",
                "--force",
                &format!("--key-file={}", at("munge.key")),
                &format!("--socket={}", at("munge.socket")),
                &format!("--pid-file={}", at("munge.pid")),
                &format!("--log-file={}", at("log/munge")),
                &format!("--seed-file={}", at("munge.seed")),
            ],
            "munged",
        );
        wait("munge's socket", || dir.join("munge.socket").exists());
        cluster.daemon("slurmctld", &["-D", "-i", "-f", &at("slurm.conf")], "slurmctld");
        for node in NODES {
            cluster.daemon("slurmd", &["-D", "-N", node, "-f", &at("slurm.conf")], node);
        }
        wait("three idle nodes", || cluster.run("sinfo", &["-h", "-N", "-o", "%T"]).matches("idle").count() == 3);
        cluster
    }

    fn daemon(&mut self, program: &str, arguments: &[&str], name: &str) {
        let log = fs::File::create(self.dir.join("log").join(format!("{name}.out"))).unwrap();
        let mut command = Command::new(find(program).unwrap());
        command
            .args(arguments)
            .env("SLURM_CONF", self.dir.join("slurm.conf"))
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .stdin(Stdio::null());
        self.daemons.insert(name.to_owned(), Bound::start(&mut command));
    }

    fn output(&self, program: &str, arguments: &[&str]) -> Output {
        Command::new(program).args(arguments).env("SLURM_CONF", self.dir.join("slurm.conf")).output().unwrap()
    }

    /// The output of a Slurm program; empty while the controller does not answer.
    fn run(&self, program: &str, arguments: &[&str]) -> String {
        String::from_utf8_lossy(&self.output(program, arguments).stdout).into_owned()
    }

    /// Runs a script that submits jobs.
    fn submit(&self, script: &str) {
        let path = self.dir.join("submit.sh");
        fs::write(&path, script).unwrap();
        let submitted = self.output("sh", &[text(&path)]);
        assert!(submitted.status.success(), "{}", String::from_utf8_lossy(&submitted.stderr));
    }

    /// Whether no job waits or runs.
    fn is_idle(&self) -> bool {
        let jobs = self.output("squeue", &["-h"]);
        jobs.status.success() && jobs.stdout.trim_ascii().is_empty()
    }

    /// Kills a node's daemon and all processes that it runs, as a power failure would, and tells the controller.
    fn kill_node(&mut self, node: &str) {
        drop(self.daemons.remove(node).unwrap());
        // The command lines of `slurmstepd` name their jobs; `squeue` lists the jobs on this node.
        let jobs = self.run("squeue", &["-h", "-t", "R", "-w", node, "-o", "%A"]);
        for job in jobs.split_whitespace() {
            for process in processes().filter(|(_, line)| line.contains(&format!("slurmstepd: [{job}."))) {
                kill_tree(process.0);
            }
        }
        self.run("scontrol", &["update", &format!("NodeName={node}"), "State=DOWN", "Reason=killed"]);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.output("scancel", &["--full", "-u", "root"]);
        while self.daemons.pop_last().is_some() {}
    }
}

/// Processes of this machine, with their command lines.
fn processes() -> impl Iterator<Item = (u32, String)> {
    fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let entry = entry.ok()?;
        let process = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        Some((process, String::from_utf8_lossy(&line).replace('\0', " ")))
    })
}

fn kill_tree(process: u32) {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    let _ = Command::new("kill").args(["-9", &process.to_string()]).status();
    children.split_whitespace().filter_map(|child| child.parse().ok()).for_each(kill_tree);
}

fn wait(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(600);
    while !done() {
        assert!(Instant::now() < end, "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn configuration(dir: &Path) -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned();
    let dir = dir.display();
    let mut text = format!(
        "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={}\nAuthType=auth/munge\n\
         AuthInfo=socket={dir}/munge.socket\nCryptoType=crypto/munge\nSlurmUser=root\nSlurmdUser=root\n\
         StateSaveLocation={dir}/state\nSlurmdSpoolDir={dir}/spool/%n\nSlurmctldPidFile={dir}/slurmctld.pid\n\
         SlurmdPidFile={dir}/%n.pid\nSlurmctldLogFile={dir}/log/slurmctld\nSlurmdLogFile={dir}/log/%n\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n\
         SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU_Memory\nJobAcctGatherType=jobacct_gather/linux\n\
         JobAcctGatherFrequency=task=1\nJobAcctGatherParams=OverMemoryKill\n\
         AccountingStorageType=accounting_storage/none\nReturnToService=2\nSlurmdTimeout=10\nKillWait=2\nMinJobAge=60\n\
         SchedulerParameters=batch_sched_delay=1,sched_interval=2\n",
        free_port()
    );
    for node in NODES {
        text += &format!(
            "NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={} CPUs=1 RealMemory=4000 State=UNKNOWN\n",
            free_port()
        );
    }
    text + "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
}

/// The files of a directory of tables, by name.
fn tables(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let kept = names.filter(|path| path.extension().is_some_and(|e| e == "dsq" || e == "json"));
    kept.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap())).collect()
}

fn available() -> bool {
    let missing = ["munged", "slurmctld", "slurmd", "sbatch"].into_iter().find(|name| find(name).is_none());
    if let Some(missing) = missing {
        skip(&format!("there is no {missing} (Debian: slurmctld slurmd slurm-client munge)"));
    }
    missing.is_none()
}

/// A new directory, whose path is short enough for sockets.
fn directory() -> TempDir {
    tempfile::Builder::new().prefix("dsq-slurm").tempdir_in("/tmp").unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The script of a plan, whose jobs run a program.
fn plan(pieces: &str, tables: &Path, program: &str) -> String {
    let own = ["cluster", "plan", "--for", "slurm", "--jobs", "3", "--memory", "1GiB", "--rate", "100000"];
    let spill = ["--spill", text(tables.parent().unwrap())];
    let given = ["--pieces", pieces, "--tables", text(tables), "--program", program];
    dsq::stdout(&[&own[..], &spill, &given].concat())
}

/// The numbers of tables of a finished directory, and of those that are missing.
fn finished(tables: &Path, pieces: &str) -> (Option<u64>, Option<u64>) {
    let finished = dsq::stdout(&["cluster", "finish", text(tables), "--pieces", pieces, "--json"]);
    let finished: serde_json::Value = serde_json::from_str(&finished).unwrap();
    (finished["tables"].as_u64(), finished["missing"].as_u64())
}

#[test]
fn slurm_solves_what_generate_does_though_a_node_dies() {
    if !available() {
        return;
    }
    let temporary = directory();
    let many = temporary.path().join("many");
    let mut cluster = Cluster::start(&temporary.path().join("slurm"));
    cluster.submit(&plan("4", &many, env!("CARGO_BIN_EXE_dsq")));

    // A node dies with a job of the last level on it.
    wait("the last level", || tables(&many).len() > 60);
    wait("a job on the second node", || !cluster.run("squeue", &["-h", "-t", "R", "-w", "n2", "-o", "%A"]).is_empty());
    cluster.kill_node("n2");
    wait("the end of all jobs", || {
        // A job that lost its node waits two minutes unless told otherwise.
        for job in cluster.run("squeue", &["-h", "-t", "PD", "-o", "%A %r"]).lines().filter(|l| l.contains("BeginTime"))
        {
            let job = job.split(' ').next().unwrap();
            cluster.run("scontrol", &["update", &format!("JobId={job}"), "StartTime=now"]);
        }
        cluster.is_idle()
    });

    assert_eq!(finished(&many, "4"), (Some(186), Some(0)));
    let (one, many) = (tables(Path::new(four())), tables(&many));
    assert_eq!(one.keys().collect::<Vec<_>>(), many.keys().collect::<Vec<_>>());
    for (name, bytes) in &one {
        assert!(bytes == &many[name], "{name} differs");
    }
}

/// A job that takes more memory than it asked for is killed, its log says why, and no level after it begins. The same
/// script, with enough memory, does the rest.
#[test]
fn a_job_killed_for_its_memory_says_so_and_ends_the_run() {
    if !available() {
        return;
    }
    let temporary = directory();
    let (made, greedy) = (temporary.path().join("made"), temporary.path().join("greedy"));
    fs::write(&greedy, "#!/bin/sh\nhead -c 400000000 /dev/zero | tail -c 400000000 | sleep 60\n").unwrap();
    fs::set_permissions(&greedy, fs::Permissions::from_mode(0o755)).unwrap();
    let cluster = Cluster::start(&temporary.path().join("slurm"));
    cluster.submit(&plan("3", &made, text(&greedy)).replace("--mem=1G", "--mem=100M"));
    wait("the end of all jobs", || cluster.is_idle());
    let logs = fs::read_dir(made.join("jobs")).unwrap().map(|entry| entry.unwrap().path());
    let logs: Vec<PathBuf> = logs.filter(|path| path.extension().is_some_and(|end| end == "log")).collect();
    assert!(!logs.is_empty() && logs.iter().all(|log| text(log).contains("/dsq-2-")), "{logs:?}");
    for log in &logs {
        let said = fs::read_to_string(log).unwrap();
        assert!(said.contains("exceeded") && said.contains("memory limit"), "{}: {said}", log.display());
    }
    assert!(tables(&made).is_empty());

    cluster.submit(&plan("3", &made, env!("CARGO_BIN_EXE_dsq")));
    wait("the end of all jobs", || cluster.is_idle());
    assert_eq!(finished(&made, "3"), (Some(52), Some(0)));
}
