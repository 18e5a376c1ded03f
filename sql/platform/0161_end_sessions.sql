-- What ends with the sessions of a user, in one list for Auth and the console: a change of address that a thief has begun, or a code that
-- waits for its exchange, must not outlive the sessions that are ended because of the thief.
--
-- It runs with the caller's rights, and with the caller's search_path, because triggers of the project on these tables do, too.

create function _selvedge.end_sessions(of_user uuid, kept uuid, ends_links boolean, ended_at timestamptz) returns bigint
  language plpgsql
as $$
declare
  ended bigint;
begin
  -- A sign-in at the same time locks the row, too.
  perform from auth.users as u where u.id = of_user for no key update;
  -- Tokens and AMR entries are deleted with their sessions, by foreign keys.
  delete from auth.sessions as s where s.user_id = of_user and s.id is distinct from kept;
  get diagnostics ended = row_count;
  delete from auth.webauthn_challenges as c where c.user_id = of_user;
  delete from auth.oauth_authorizations as a where a.user_id = of_user;
  -- Codes that wait for their exchange. Flows of providers have a user when they have come back, and their code then; those by mail have
  -- one from the start, and their code when the mail is opened.
  delete from auth.flow_state as f
  where f.user_id = of_user
    and (f.auth_code_issued_at is not null or f.authentication_method in ('oauth', 'sso/saml'));
  -- Links to providers. Each belongs to a session and ends with it, so that one that is kept may finish its own.
  if ends_links then
    delete from auth.flow_state as f where f.linking_target_id = of_user;
  end if;
  -- Pending changes of address and number, and the code of a reauthentication. When they were sent is kept, for the pause between two
  -- messages.
  delete from auth.one_time_tokens as t
  where t.user_id = of_user and t.token_type in
    ('email_change_token_new', 'email_change_token_current', 'phone_change_token', 'reauthentication_token');
  update auth.users as u
  set email_change = '', email_change_token_new = '', email_change_token_current = '', email_change_confirm_status = 0,
      phone_change = '', phone_change_token = '', reauthentication_token = '', updated_at = ended_at
  where u.id = of_user and pg_catalog.concat(u.email_change, u.email_change_token_new, u.email_change_token_current, u.phone_change,
    u.phone_change_token, u.reauthentication_token) <> '';
  return ended;
end $$;
comment on function _selvedge.end_sessions(uuid, uuid, boolean, timestamptz) is
  'Ends the sessions of a user, but for one that is kept (null: none), and what was begun in them; returns how many. Links to providers of a '
  'kept session stay unless ends_links.';
revoke all on function _selvedge.end_sessions(uuid, uuid, boolean, timestamptz) from public;
grant execute on function _selvedge.end_sessions(uuid, uuid, boolean, timestamptz) to postgres, supabase_auth_admin;

-- The console's operators end sessions by it, and could delete the sessions alone before.
grant usage on schema _selvedge to selvedge_console_operator;
grant execute on function _selvedge.end_sessions(uuid, uuid, boolean, timestamptz) to selvedge_console_operator;
grant delete on auth.webauthn_challenges, auth.oauth_authorizations, auth.flow_state to selvedge_console_operator;
