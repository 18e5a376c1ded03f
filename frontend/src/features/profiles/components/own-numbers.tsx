import { useQuery } from "@tanstack/react-query";
import { profileNumbersQuery } from "../api/profile-numbers";

interface OwnNumbersProps {
  userId: string;
  /** Classes of a grid. */
  className: string;
}

/** The numbers of the person's own page. Their places are there before they are. */
export function OwnNumbers({ userId, className }: OwnNumbersProps) {
  const { data } = useQuery(profileNumbersQuery(userId));
  const numbers = [
    [data?.outfits === 1 ? "outfit" : "outfits", data?.outfits],
    [data?.likes === 1 ? "like" : "likes", data?.likes],
    [data?.followers === 1 ? "follower" : "followers", data?.followers],
    ["following", data?.following],
  ] as const;
  return (
    <ul aria-label="Numbers" className={className}>
      {numbers.map(([label, count]) => (
        <li key={label} className="text-caption text-ink-soft">
          <span className="block font-serif text-heading text-ink tabular-nums">
            {count === undefined ? "–" : Number(count).toLocaleString("en-US")}
          </span>
          {label}
        </li>
      ))}
    </ul>
  );
}
