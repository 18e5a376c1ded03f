//! What is understood of the scripts of extensions, which PostgreSQL runs as a superuser.

use selvedge_testing::TestDatabase;

/// What a script calls while it runs, whichever way its statements are written.
#[tokio::test]
async fn gw_018_what_the_script_of_an_extension_calls_is_found_in_every_form_of_its_statements() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    let split = async |script: &str| -> (String, String) {
        let split = "select s[1], s[2] from _selvedge.split_extension_script($1) as s";
        let row = superuser.query_one(split, &[&script]).await.expect("split");
        (row.get(0), row.get(1))
    };

    let mut lost = Vec::new();
    for script in [
        // A function whose name cannot be read stays, with all that it calls.
        "create function @extschema:other@.f() returns int as $$ select called() $$ language sql; select f()",
        "create function /* c */ f() returns int as 'select called()' language sql; select f()",
        "create function \"a\"\"b\"() returns int as $$ select called() $$ language sql; select \"a\"\"b\"()",
        // Two hyphens within a text are no comment.
        "select note('-- ', called())",
        "select note(E'it\\'s -- ', called())",
        "create aggregate first(text) (sfunc = f, stype = called())",
        "create function f() returns int language sql return called(); create function g() returns int as $b$ select F() $b$ language sql;
         select g()",
        "do $$ begin perform called(); end $$",
        // Nor is the end of a text of several lines one.
        "comment on function f is 'several\nlines -- of text';\nselect called();",
        "comment on function f is E'a\\\\'; select called(); comment on function g is E'b\\''",
        // Dollar signs in a text or a comment neither begin nor end the body of a function.
        "comment on function f is 'costs $$'; /* $$ */ select called(); -- $$\n select 1",
        "/* it's /* nested */ */ comment on function f is 'x'; select called(); -- don't",
        // An e before a quote begins an escape string only where it is not the end of a name.
        "comment on type a$e'\\'; select called(); --'",
        "comment on type \u{e9}e'\\'; select called(); --'",
        // A semicolon in a comment or a text of a block ends no statement.
        "do $$ begin -- first a; drop the old ones\n perform called(); end $$;",
        "do $$ begin /* x; grant */ perform called(); end $$;",
        "do $$ begin raise notice 'a; drop %', called(); end $$;",
        "do $\u{e9}$ begin -- a; revoke\n perform called(); end $\u{e9}$;",
        // The last dollar of a mark that ends no body may begin the one that does.
        "create function f() returns int as $a$ select $b$a$ language sql; select called(); comment on function f is $a$x$a$",
        "create function f() returns int as $$ select $x$$ language sql; select called()",
        "create function f() returns text as $$$$ language sql; select called(); comment on function f is $$; drop $$",
        // A function is written in C only where its own language says so, not where a text mentions it.
        "create function f() returns int as 'begin /* language c */ return called(); end' language plpgsql; select f()",
        "create function f(language text) returns int language plpgsql as $$ begin return called(); end $$; select f('c')",
        "create function f(a text default 'language c') returns int return called(); select f()",
        "create function f() -- language c\n returns int language plpgsql as $$ begin return called(); end $$; select f()",
        // Whoever calls a function computes its default values, whatever it is written in.
        "create function f(a int default called()) returns int as 'x' language c; select f()",
        "create function f(a int = 1 + called()) returns int as 'x' language c; select f()",
        "create function f(a text default 'x'::d(called())) returns int as 'x' language c; select f()",
        // The arguments of a function are no row of values.
        "select run_sql('select called()', 'x')",
        "insert into t values (run_sql('select called()', 'x'), ('a', 'b'))",
        "insert into t select * from run_sql('select called()', 'x')",
        // A text with escapes goes on behind a comment, and behind a doubled quote.
        "comment on function f is E'a' -- it\n '\\''; select called(); --'",
        "comment on function f is E'a''\\''; select called(); --'",
        // A function calls the next one behind an escape, and in a text between dollars.
        "create function f() returns int as E'begin\\nreturn\\tg(); end' language plpgsql;
         create function g() returns int as $a$ select $b$h$b$ $a$ language sql; create function h() returns int return called(); select f()",
    ] {
        if !split(script).await.0.contains("called()") {
            lost.push(script);
        }
    }
    assert_eq!(lost, Vec::<&str>::new(), "what they call is not found");
    let mut taken = Vec::new();
    for script in [
        "-- called()\nselect 1 -- called()",
        "\\echo called() \\quit\nselect 1",
        "create function f() returns int as $$ select called() $$ language sql; select 1",
        "insert into t values\n(1, 'called()', null),\n(-2.5, 'it''s called()', 'x');",
        "comment on function f() is 'called()'; create cast (a as b) with function called()",
        "comment on function f() is $$ x; select called() $$; select 1",
        "create function f() returns int as $a$ $b$; select called(); $b$ $a$ language sql; select 1",
        "/* it's; called() */ create function f() returns int as 'select 1; select called()' language sql; select 'it''s'",
        "create function f /* c */ () returns int as $$ select called() $$ language sql; select 1",
        "/* /* called() */ called() */ select 1 /* x */ -- /* called()",
        "create function f_of_others() returns int return called(); select f()",
    ] {
        if split(script).await.0.contains("called()") {
            taken.push(script);
        }
    }
    assert_eq!(taken, Vec::<&str>::new(), "they call nothing");
    // Whoever calls a function of a library computes its default values.
    for (default, is_plain) in [
        ("a ### b", false),
        ("'x'::planted", false),
        ("array[1] || 2", false),
        ("named", false),
        ("'x'::text", true),
        ("E'x\\n'", true),
        ("-1.5", true),
        ("null::double precision", true),
        ("'{}'::text[]", true),
        ("true", true),
    ] {
        for sign in ["default", "="] {
            let script = format!(
                "create function f(a int, b text {sign} {default}, c int = 1) returns int as 'x', 'y' language c; select f(1)"
            );
            let (calling, _) = split(&script).await;
            assert_eq!(!calling.contains("b text"), is_plain, "{script}: {calling}");
        }
    }
    let (_, naming) =
        split("create operator = (procedure = named); create type t as range (subtype_diff = named)").await;
    assert_eq!(naming.matches("named").count(), 2);

    // As many functions as PostGIS has, and as much text.
    let many: String = (0..1_000)
        .map(|n| {
            format!(
                "CREATE OR REPLACE FUNCTION st_step_{n}(a text, b text DEFAULT '') RETURNS text AS $$ {} SELECT st_step_{}($1, $2) $$ LANGUAGE sql;\n\
                 CREATE OPERATOR &&& (LEFTARG = geometry, RIGHTARG = geometry, PROCEDURE = st_step_{n});\n-- ''note\n",
                "select 'x' as y; ".repeat(40),
                n + 1
            )
        })
        .collect();
    // A long text with delimiters takes no longer.
    let dollars = format!(
        "select '{}', {}",
        "\"--\" ".repeat(40_000),
        "$1 + ".repeat(40_000)
    );
    let started = std::time::Instant::now();
    let (calling, _) = split(&format!("{many} {dollars} 1;")).await;
    let took = started.elapsed();
    assert!(calling.contains("select 'x'"), "functions of operators are read");
    // Quadratic time was minutes. A busy machine needs some seconds for what takes half of one.
    assert!(took < std::time::Duration::from_secs(60), "{took:?}");
    println!("split {} kB in {took:?}", many.len() / 1024);
}

/// Whoever calls a function with `security definer` goes on to run it as a superuser. What is written in C has no names in it. And nobody knows
/// the names that a script makes of pieces or writes by the numbers of letters.
#[tokio::test]
async fn gw_018_a_script_whose_names_nobody_knows_may_call_everything_in_its_path() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    let definer = |language: &str| {
        format!("create function f() returns int language {language} security definer as $$ x $$")
    };
    let run = |statement: &str| format!("do $$ begin -- execute\n {statement}; end $$");
    let of_function = |call: &str| {
        format!(
            "create function f() returns int as $$ begin execute name; end $$ language plpgsql; select {call}"
        )
    };
    let is_readable =
        "select s[1] is not null and s[2] is not null from _selvedge.split_extension_script($1) as s";

    for (script, is_known) in [
        (definer("sql"), false),
        (definer("c"), true),
        (definer("'c'"), true),
        (
            format!("do $do$ begin execute '{}'; end $do$", definer("sql")),
            false,
        ),
        (run("execute 'select ' || name || '()'"), false),
        (run("execute format('select %I()', name)"), false),
        (run("execute statement"), false),
        (run("execute $a$ select 1 $a$ || name"), false),
        (run("for r in execute 'select ' || name loop end loop"), false),
        (
            run("perform query_to_xml('select ' || name, true, true, '')"),
            false,
        ),
        (run("execute $a$ do $b$ begin execute name; end $b$ $a$"), false),
        (
            run("perform query_to_xml /* it */ ('select ' || name, true, true, '')"),
            false,
        ),
        (
            run("perform \"query_to_xml\"('select ' || name, true, true, '')"),
            false,
        ),
        (run("perform ts_rewrite(query, 'select ' || name)"), false),
        (run("perform schema_to_xml('public', true, true, '')"), false),
        (
            run("perform table_to_xml('pub' || 'lic.v', true, true, '')"),
            false,
        ),
        (run("perform table_to_xml('public.v', true, true, '')"), true),
        (
            "select * from xpath_table('id', 'doc', name, '/a', 'true') as t (a int)".to_owned(),
            false,
        ),
        (run("execute 'select 1'"), true),
        (run("execute 'select ''a''' into strict x using 'b'"), true),
        (
            run("execute $a$ grant execute on function f() to public $a$"),
            true,
        ),
        (run("perform query_to_xml('select 1', true, true, '')"), true),
        (run("/* execute name */ null"), true),
        (
            "create trigger t before insert on x execute function f()".to_owned(),
            true,
        ),
        // Of the functions of a script those count that it calls.
        (of_function("1"), true),
        (of_function("F()"), false),
        (r#"select U&"\0066"()"#.to_owned(), false),
        (r"select run(E'select \x66()')".to_owned(), false),
        (r"select run(E'select \\x66()\n')".to_owned(), true),
    ] {
        let row = superuser.query_one(is_readable, &[&script]).await;
        assert_eq!(row.expect("split").get::<_, bool>(0), is_known, "{script}");
    }
}

/// Such a script finds everything in its path, and what is in other schemas if it names these.
#[tokio::test]
async fn gw_018_a_script_with_names_of_pieces_finds_what_is_in_its_path_and_in_schemas_that_it_names() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    postgres
        .batch_execute(
            "create schema ext; create schema other; create function ext.f(int) returns int language sql as 'select 1';
             create function other.g(int) returns int language sql as 'select 1'",
        )
        .await
        .expect("postgres may");
    let superuser = database.superuser().await;
    let found = "select coalesce(string_agg(n, ' '), '') from _selvedge.split_extension_script($1) as s,
         _selvedge.find_callable_names(s[1], s[2], array['ext']) as n";

    for (script, expected) in [
        (
            "do $$ begin execute 'select ' || n || '(1)'; end $$",
            "ext.f(integer)",
        ),
        (
            "do $$ begin execute 'select other.' || n || '(1)'; end $$",
            "ext.f(integer) other.g(integer)",
        ),
        ("do $$ begin execute 'select 1'; end $$", ""),
        // A comment may stand before the arguments.
        ("select F /* first */ (1)", "ext.f(integer)"),
        ("do $$ begin perform f -- first\n (1); end $$", "ext.f(integer)"),
        ("do $$ begin perform f /* first */ (1); end $$", "ext.f(integer)"),
        // An escape ends in a letter that is none of the name.
        (r"select run(E'select\nf(1)')", "ext.f(integer)"),
        // A list of names leads nowhere else, and whoever sets the path otherwise may lead everywhere.
        (
            "create function d() returns int language sql security definer set search_path = pg_catalog, pg_temp as 'select 1'; select d()",
            "ext.f(integer)",
        ),
        (
            "create function d() returns int language sql security definer set search_path to other as 'select 1'; select d()",
            "ext.f(integer) other.g(integer)",
        ),
        ("set search_path = pg_catalog; select g(1)", ""),
        (
            "set local search_path to pg_temp, \"other\"; select g(1)",
            "other.g(integer)",
        ),
        ("set search_path to default; select g(1)", "other.g(integer)"),
        (
            "set search_path = pg_catalog, \"$user\"; select g(1)",
            "other.g(integer)",
        ),
        ("reset search_path; select g(1)", "other.g(integer)"),
        ("reset all; select g(1)", "other.g(integer)"),
        (
            "create function e() returns int language sql as 'select g(1)'; alter function e() set search_path = other; select 1",
            "other.g(integer)",
        ),
        ("alter function g(int) owner to other; select 1", ""),
        (
            "select set_config('search_path', 'ot' || 'her', true); select g(1)",
            "other.g(integer)",
        ),
        (
            "do $$ begin perform run('set search_path to pg_catalog', ', ot', 'her'); perform g(1); end $$",
            "other.g(integer)",
        ),
        (
            "create function h() returns int language sql set search_path from current as 'select g(1)'; select h()",
            "other.g(integer)",
        ),
        // The end of one part is no part of the beginning of the other.
        (
            "select g(1) from other;create cast (a as b) with function h(int)",
            "other.g(integer)",
        ),
    ] {
        let row = superuser.query_one(found, &[&script]).await.expect("found");
        assert_eq!(row.get::<_, String>(0), expected, "{script}");
    }
}

/// A value of a domain is checked by the domain's owner's functions, in the session of the script.
#[tokio::test]
async fn gw_018_types_that_a_script_gives_to_arguments_columns_and_operators_count() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    postgres
        .batch_execute(
            "create schema ext; create domain ext.planted as text; create table ext.weight (id int)",
        )
        .await
        .expect("postgres may");
    let superuser = database.superuser().await;
    let found = "select coalesce(string_agg(n, ' '), '') from _selvedge.split_extension_script($1) as s,
         _selvedge.find_callable_names(s[1], s[2], array['ext']) as n";
    let of_library = |arguments: &str, call: &str| {
        format!("create function f({arguments}) returns int as 'x', 'f' language c; {call}")
    };

    for script in [
        of_library("a planted default ''", "select f()"),
        of_library("planted default ''", "select f()"),
        of_library("in planted", "select f('x')"),
        of_library("a in planted", "select f('x')"),
        of_library("variadic planted[]", "select f('x')"),
        of_library("a int, b ext . planted = 1", "select f(1)"),
        of_library("a numeric(10, 2), planted array", "select f(1, '{x}')"),
        of_library("\"a, b)\" int, c planted", "select f(1, 'x')"),
        of_library("a int, b weight", "select f(1, '(1)')"),
        // A text is read when the function is made, if it is an array or a row.
        of_library("a planted[] default '{x}'", ""),
        of_library("a planted[] default $a$x$a$", ""),
        "create function f(a text default '{x}'::planted[]) returns int language sql as 'select 1'"
            .to_owned(),
        "create function f() returns int return cardinality('{x}'::planted[])".to_owned(),
        "create function f() returns int begin atomic select cardinality('{x}'::planted[]); end".to_owned(),
        "create function f() returns int return cardinality(array[planted 'x'])".to_owned(),
        "create type c as (a int, b planted); select '(1,x)'::c".to_owned(),
        "create type c as range (subtype = planted); select '[a,b]'::c".to_owned(),
        "create type c as (a int); alter type c add attribute b planted; select '(1,x)'::c".to_owned(),
        "create cast (planted as int) without function; select 1".to_owned(),
        "create operator @ (leftarg = planted, rightarg = int, function = f); select 'x' @ 1".to_owned(),
    ] {
        let row = superuser.query_one(found, &[&script]).await.expect("found");
        let expected = if script.contains("weight") {
            "ext.weight"
        } else {
            "ext.planted"
        };
        assert_eq!(row.get::<_, String>(0), expected, "{script}");
    }
    // Names of arguments, columns and options are no types, and no value is made of the type of an argument that nobody gives.
    for script in [
        of_library("planted int, weight double precision default 1", "select f(1)"),
        of_library("a planted, b planted default 1", ""),
        "create type c as (planted int, weight numeric(10, 2)); select 1".to_owned(),
        "create type c (input = planted, storage = planted); select 1".to_owned(),
        "create cast (a as b) with function f(int) as assignment; select 1".to_owned(),
    ] {
        let row = superuser.query_one(found, &[&script]).await.expect("found");
        assert_eq!(row.get::<_, String>(0), "", "{script}");
    }
}

/// The platform schema is made in databases that have the check already, as those that `postgres` makes.
#[tokio::test]
async fn gw_018_the_script_of_the_vault_calls_nothing_that_lies_in_other_schemas() {
    let database = TestDatabase::create().await;
    let found = "select s[1] is null, (
          select count(*) from _selvedge.find_callable_names(s[1], s[2], array['vault']) as n
        ), (select count(*) from _selvedge.find_callable_names(s[1], s[2], array['vault', 'auth']) as n) > 0
        from _selvedge.shipped_extensions as e, _selvedge.split_extension_script(e.script) as s where e.name = 'supabase_vault'";

    let row = database
        .superuser()
        .await
        .query_one(found, &[])
        .await
        .expect("found");

    assert!(row.get::<_, bool>(0), "it has functions with `security definer`");
    assert_eq!(row.get::<_, i64>(1), 0);
    assert!(row.get::<_, bool>(2), "of a schema in its path everything counts");
}
