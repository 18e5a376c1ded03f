/** What is kept in the memory of this page alone, on whatever screen it was typed: the browser asks before a reload takes it. */
type ListHeld = () => readonly string[];

const lists: ListHeld[] = [];

/**
 * `listHeld` names what a reload would lose, each by its owner with what follows it behind a blank or an `@`. To be called once by each
 * place that keeps such things.
 */
export function askBeforeReload(listHeld: ListHeld): void {
  lists.push(listHeld);
}

/** Whether a reload would lose something of this owner. */
export function isHeldFor(owner: string): boolean {
  const isOwn = (name: string) =>
    name === owner || name.startsWith(`${owner} `) || name.startsWith(`${owner}@`);
  return lists.some((listHeld) => listHeld().some(isOwn));
}

window.addEventListener("beforeunload", (event) => {
  if (lists.some((listHeld) => listHeld().length > 0)) event.preventDefault();
});
