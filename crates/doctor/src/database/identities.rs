//! Looks for accounts and identities that older versions of Auth, or Supabase's, may have let somebody take: those that
//! today's rules (`docs/compatibility.md`, "Safer than the original") would not have made.

use tokio_postgres::Client;

use crate::finding::Finding;

/// One thing to look for: its query lists the ids of users, `what` says what is wrong with them.
struct IdentityCheck {
    what: &'static str,
    sql: &'static str,
    advice: &'static str,
}

/// The most ids that one finding names.
const SHOWN: usize = 5;

const IDENTITY_CHECKS: [IdentityCheck; 9] = [
    IdentityCheck {
        what: "phone identities that claim an e-mail address, taken from the metadata of the sign-up",
        sql: "select distinct user_id::text from auth.identities \
              where provider = 'phone' and identity_data ->> 'email' is not null",
        advice: "the address attracts nobody any more; remove it from identity_data, and look who else has it",
    },
    IdentityCheck {
        what: "users whose confirmed address none of their identities names",
        sql: "select u.id::text from auth.users u \
              where u.email_confirmed_at is not null and u.email <> '' and not u.is_sso_user and u.deleted_at is null \
                and exists (select from auth.identities i where i.user_id = u.id and i.email is not null) \
                and not exists (select from auth.identities i where i.user_id = u.id and i.email = lower(u.email))",
        advice: "a proof of another address may have confirmed it; ask the owner of the address whether the account is theirs",
    },
    IdentityCheck {
        what: "users with an identity that was linked by an address that another identity of theirs only claims",
        sql: "select distinct claimed.user_id::text from auth.identities claimed \
              join auth.identities proven on proven.user_id = claimed.user_id and proven.email = claimed.email \
                and proven.id <> claimed.id and proven.created_at > claimed.created_at \
              join auth.users u on u.id = claimed.user_id \
              where claimed.provider not in ('email', 'phone') and claimed.provider not like 'sso:%' \
                and coalesce(claimed.identity_data ->> 'email_verified', '') <> 'true' \
                and proven.identity_data ->> 'email_verified' = 'true' and claimed.email <> lower(coalesce(u.email, ''))",
        advice: "two people may share the account; unlink the identity that does not belong to its owner",
    },
    IdentityCheck {
        what: "users who have signed in, and have an address that nobody has confirmed",
        sql: "select id::text from auth.users where email <> '' and email_confirmed_at is null and not is_sso_user \
              and last_sign_in_at is not null and deleted_at is null",
        advice: "they go on, but not by the address: tokens do not name it, /recover and /resend send nothing there, and whoever signs up with it \
                 gets it for an account of their own. They prove it by a change of address to it (PUT /user), or an administrator says \
                 that it is theirs (email_confirm)",
    },
    IdentityCheck {
        what: "users with a second factor who have another factor that was never verified",
        sql: "select distinct f.user_id::text from auth.mfa_factors f where f.status = 'unverified' \
              and exists (select from auth.mfa_factors v where v.user_id = f.user_id and v.status = 'verified' \
                and v.created_at > f.created_at)",
        advice: "it cannot be verified without the second factor any more; delete it",
    },
    IdentityCheck {
        what: "users of single sign-on with several names at one provider, of which one came when the provider did not have the \
               domain of the address, or an older version ran",
        sql: "select distinct i.user_id::text from auth.identities i \
              join auth.identities other on other.user_id = i.user_id and other.provider = i.provider and other.id <> i.id \
              where i.provider like 'sso:%' \
                and not exists (select from _selvedge.selvedge_sso_proven_identities p where p.identity_id = i.id)",
        advice: "two people may share the account; ask the provider whose names these are, and delete the identity that is not the user's",
    },
    IdentityCheck {
        what: "users of single sign-on who can sign in without it",
        sql: "select distinct u.id::text from auth.users u join auth.identities i on i.user_id = u.id \
              where u.is_sso_user and i.provider not like 'sso:%'",
        advice: "delete the identity, if the company that manages the account does not know of it",
    },
    IdentityCheck {
        what: "users of single sign-on whose address is confirmed, and whose provider does not have its domain",
        sql: "select distinct u.id::text from auth.users u join auth.identities i on i.user_id = u.id \
              where u.is_sso_user and u.email_confirmed_at is not null and u.deleted_at is null and i.provider like 'sso:%' \
                and not exists (select from auth.sso_domains d where 'sso:' || d.sso_provider_id = i.provider \
                  and lower(d.domain) = split_part(lower(u.email), '@', 2))",
        advice: "add the domain to the provider, if it belongs to its company (`selvedge sso update`); otherwise set \
                 email_confirmed_at of the user to null, and tokens do not name the address",
    },
    // The first sign-in confirmed the address, in one transaction with the identity; a mail is answered later, and an administrator who
    // creates a user leaves an e-mail identity. Of Azure, Kakao and Zoom some sign-ins prove the address; of Zoom nothing in the row says
    // which.
    IdentityCheck {
        what: "users whose address only a provider has confirmed that had not verified it, or does not say so (Azure without xms_edov, Figma, \
               Fly, Kakao's ID tokens, LinkedIn's older one, Notion, Slack's older one, Snapchat, WorkOS, Zoom)",
        sql: "with named as ( \
                select i.user_id, i.email, i.created_at, \
                  i.provider in ('figma', 'fly', 'linkedin', 'notion', 'slack', 'snapchat', 'workos', 'zoom') \
                    or i.provider = 'azure' \
                      and coalesce(lower(i.identity_data -> 'custom_claims' ->> 'xms_edov'), '') not in ('true', '1') \
                    or i.provider = 'kakao' and i.identity_data ->> 'iss' = 'https://kauth.kakao.com' as proves_nothing, \
                  i.provider = 'email' or i.identity_data ->> 'email_verified' = 'true' as says_verified \
                from auth.identities i) \
              select u.id::text from auth.users u \
              where u.email_confirmed_at is not null and not u.is_sso_user and u.deleted_at is null \
                and exists (select from named i where i.user_id = u.id and i.email = lower(u.email) and i.proves_nothing \
                  and u.email_confirmed_at - i.created_at between interval '-5 s' and interval '5 s') \
                and not exists (select from named i where i.user_id = u.id and i.email = lower(u.email) \
                  and not i.proves_nothing and i.says_verified)",
        advice: "whoever has signed in there may have named somebody else's address (at Azure and WorkOS, the administrator of any \
                 organization; an Azure app that the project's url limits to its own tenant is sound); most have named their own, so ask the \
                 owner of the address first. Where the account is not theirs, set email_confirmed_at of the user to null, and the owner gets \
                 an account of their own; the user of this one can sign in there no more, unless a session still lives (PUT /user proves an \
                 address), or an administrator says that the address is theirs (email_confirm)",
    },
];

const CHECK: &str = "identities";

/// The finding where the users cannot be read.
pub(crate) fn not_examined(reason: &str) -> Finding {
    Finding::warning(
        CHECK,
        format!("the users cannot be examined: {reason}"),
        "let DATABASE_URL name a role that may read the schema auth",
    )
}

/// Examines the users of the project's database; nothing where it has no tables of Auth. `is_older`: an older version of this program has made the
/// platform schema.
pub(crate) async fn examine_identities(client: &Client, is_older: bool) -> Vec<Finding> {
    let readable = "select c.oid is null, coalesce(has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select'), false) \
                    from (values (0)) as one \
                    left join pg_namespace as n on n.nspname = 'auth' \
                    left join pg_class as c on c.relnamespace = n.oid and c.relname = 'identities'";
    match client.query_one(readable, &[]).await {
        Ok(row) if row.get(0) => return Vec::new(),
        Ok(row) if row.get(1) => {}
        Ok(_) => {
            let tables = "accounts and identities (schema auth)";
            return vec![Finding::unread(
                CHECK,
                &[tables],
                "postgres, or a member of pg_read_all_data",
            )];
        }
        Err(error) => return vec![not_examined(&error.to_string())],
    }
    let mut findings = Vec::new();
    let mut unread = Vec::new();
    for check in &IDENTITY_CHECKS {
        match client.query(check.sql, &[]).await {
            Ok(rows) if rows.is_empty() => {}
            Ok(rows) => {
                let ids: Vec<String> = rows.iter().take(SHOWN).map(|row| row.get(0)).collect();
                let more = if rows.len() > SHOWN { ", …" } else { "" };
                let message = format!("{}: {} ({}{more})", check.what, rows.len(), ids.join(", "));
                findings.push(Finding::warning(CHECK, message, check.advice));
            }
            Err(_) if is_older => unread.push(check.what),
            Err(error) => findings.push(Finding::warning(
                CHECK,
                format!("{} could not be looked for: {error}", check.what),
                "run `selvedge migrate up`, if the schema auth is older than this version",
            )),
        }
    }
    if !unread.is_empty() {
        findings.push(Finding::outdated(CHECK, &unread.join("; ")));
    }
    if findings.is_empty() {
        findings.push(Finding::ok(CHECK, "no account or identity is suspicious"));
    }
    findings
}
