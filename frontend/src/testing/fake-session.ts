/** Stores a session as the auth client does, so that a client created afterwards starts signed in without a server. */
export function storeSession(userId: string): void {
  const expiresAt = Math.floor(Date.now() / 1000) + 3600;
  const part = (value: object) => btoa(JSON.stringify(value)).replace(/=+$/, "");
  const session = {
    access_token: `${part({ alg: "HS256", typ: "JWT" })}.${part({ sub: userId, exp: expiresAt })}.c2lnbmF0dXJl`,
    refresh_token: "refresh",
    token_type: "bearer",
    expires_in: 3600,
    expires_at: expiresAt,
    user: {
      id: userId,
      aud: "authenticated",
      email: "noah@lookbook.test",
      app_metadata: {},
      user_metadata: {},
      created_at: "2026-01-01T00:00:00Z",
    },
  };
  const host = window.location.hostname.split(".")[0] ?? "";
  localStorage.setItem(`sb-${host}-auth-token`, JSON.stringify(session));
}
