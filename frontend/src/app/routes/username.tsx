import { useParams } from "react-router";
import { isReservedUsername } from "@/lib/reserved-usernames";
import { NotFound } from "./not-found";
import { PublicProfilePage } from "./public-profile";

/** The page at /{username}. A word that the site keeps for itself is a missing page, not a missing user. */
export function UsernamePage() {
  const { username = "" } = useParams();
  return isReservedUsername(username) ? <NotFound /> : <PublicProfilePage />;
}
