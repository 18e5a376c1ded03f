/** Above an answer that stays although what is asked for has changed since. */
export function OldAnswer() {
  return (
    <p role="status" className="mb-2 text-caption text-warning">
      This is the answer to what was asked before the last change.
    </p>
  );
}
