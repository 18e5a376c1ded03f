import { expect, it } from "vitest";
import { readBeginning } from "./send-request";

/** An answer of so many pieces. It counts those that were asked for. */
function answerOf(piece: Uint8Array, count: number) {
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent === count) controller.close();
      else {
        sent += 1;
        controller.enqueue(piece);
      }
    },
  });
  return { response: new Response(body), countSent: () => sent };
}

it("console_100_of_an_answer_of_a_gigabyte_only_what_is_shown_is_kept", async () => {
  const { response, countSent } = answerOf(new Uint8Array(1_000_000).fill(0x61), 1000);

  const { text, bytes, isWhole } = await readBeginning(response);

  expect({ bytes, isWhole, sent: countSent() }).toEqual({
    bytes: 1_000_000_000,
    isWhole: false,
    sent: 1000,
  });
  expect(text.length).toBeLessThan(2_000_000);
});

it("console_100_a_character_that_two_pieces_share_is_whole", async () => {
  const letter = new TextEncoder().encode("ä");
  const pieces = [letter.slice(0, 1), letter.slice(1)];
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });

  expect(await readBeginning(new Response(body))).toEqual({ text: "ä", bytes: 2, isWhole: true });
});
