/**
 * The nonce with which the content security policy allows style elements, from the `meta` element that the build writes into
 * index.html. Libraries that add style elements need it (CodeMirror: `EditorView.cspNonce.of(cspNonce())`).
 */
export function cspNonce(): string | undefined {
  const meta = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]');
  // Browsers hide the attribute from scripts and offer the property instead.
  return meta?.nonce || undefined;
}
