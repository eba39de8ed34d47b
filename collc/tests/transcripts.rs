//! What the command prints, as transcripts: every `.trycmd` file under `cmd/`, and every console block
//! of the book. What varies from run to run stands as `[..]`.

#[test]
fn commands_print_what_the_transcripts_say() {
    trycmd::TestCases::new()
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C.UTF-8")
        .case("tests/cmd/*.trycmd")
        .case("../docs/**/*.md");
}
