import { Button } from "@ui/button";
import { Link } from "react-router";
import { paths } from "@/lib/paths";

interface CreateLinkProps {
  /** Whether the list beside it has no outfit yet. */
  first?: boolean;
}

/** Leads to the wizard. */
export function CreateLink({ first = false }: CreateLinkProps) {
  return (
    <Button variant="primary" asChild>
      <Link to={paths.createOutfit}>
        {first ? "Create Your First Outfit" : "Create New Outfit"}
      </Link>
    </Button>
  );
}
