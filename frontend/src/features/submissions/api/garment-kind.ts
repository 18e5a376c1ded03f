// What kind of garment an item is, and how large it is next to others, by the words of its subcategory, category and name.

/** In the order in which they are laid down, from the head to the feet. */
export const garmentKinds = [
  "hat",
  "scarf",
  "outerwear",
  "top",
  "dress",
  "other",
  "bottom",
  "bag",
  "small",
  "shoes",
] as const;

export type GarmentKind = (typeof garmentKinds)[number];

export interface Garment {
  kind: GarmentKind;
  /** Longest side in centimetres when it lies flat. Small things count as more than they have, so that they can be seen. */
  length: number;
}

/** The members of an item that tell what it is. */
export interface GarmentWords {
  name: string;
  category?: { name: string } | null | undefined;
  subcategory?: { name: string } | null | undefined;
}

const table: readonly [kind: GarmentKind, length: number, words: string][] = [
  ["outerwear", 108, "coat overcoat trench parka raincoat anorak poncho cape"],
  ["outerwear", 76, "outerwear jacket blazer bomber gilet puffer waistcoat"],
  ["top", 70, "top tee tshirt t-shirt shirt tank polo blouse sweatshirt hoodie jumper cardigan"],
  ["top", 70, "knitwear knit sweater pullover vest neck turtleneck camisole bodysuit"],
  ["bottom", 102, "bottom jean trouser pant chino jogger legging slack"],
  ["bottom", 68, "skirt"],
  ["bottom", 48, "short"],
  ["dress", 112, "dress gown jumpsuit overall romper"],
  ["shoes", 46, "boot"],
  [
    "shoes",
    34,
    "shoe footwear sneaker trainer loafer heel pump flat sandal mule brogue derby oxford",
  ],
  ["shoes", 34, "espadrille clog slipper"],
  ["bag", 44, "bag tote backpack weekender duffel hobo satchel rucksack"],
  ["bag", 28, "clutch purse wallet"],
  ["hat", 28, "hat cap beanie beret headband"],
  ["scarf", 46, "scarf scarve shawl"],
  ["small", 30, "accessory accessorie belt sock tie glove tight"],
  [
    "small",
    20,
    "eyewear sunglass glass watch watche jewellery jewelry earring necklace bracelet ring brooch",
  ],
];

const garments: ReadonlyMap<string, Garment> = new Map(
  table.flatMap(([kind, length, words]) =>
    words.split(" ").map((word): [string, Garment] => [word, { kind, length }]),
  ),
);

function garmentOfWord(word: string): Garment | undefined {
  const singular = [word, word.replace(/s$/, ""), word.replace(/es$/, "")];
  return singular.map((form) => garments.get(form)).find((found) => found !== undefined);
}

/** The last word that names a garment decides: a shirt dress is a dress, a dress shirt is a shirt. */
function garmentOfText(text: string | undefined): Garment | undefined {
  const words = (text ?? "").toLowerCase().split(/[^a-z-]+/);
  return words.map(garmentOfWord).findLast((found) => found !== undefined);
}

/** What an item is. Its subcategory says it more exactly than its category, and its name is asked last. */
export function garmentOf({ name, category, subcategory }: GarmentWords): Garment {
  return (
    garmentOfText(subcategory?.name) ??
    garmentOfText(category?.name) ??
    garmentOfText(name) ?? { kind: "other", length: 60 }
  );
}
