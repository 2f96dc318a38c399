/** The settings: their parts on the left, the chosen one beside them. */

import { Select, Skeleton, Text } from "@mantine/core";
import { Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { Suspense } from "react";
import { Empty, Loaded, Page } from "../../components/layout/page";
import { permissionsOf, usePermissions, useOrganizationContext } from "../../lib/organization/organization-context";
import { GROUPS, SECTIONS } from "./sections";
import classes from "./settings.module.css";

export function SettingsPage() {
  const { section: key } = useParams({ strict: false });
  const section = SECTIONS.find((candidate) => candidate.key === key);
  return (
    <Page title="Settings" tabTitle={section === undefined ? "Settings" : `${section.title} settings`}>
      <div className={classes.columns}>
        <SectionList />
        <div className={classes.section}>
          <Outlet />
        </div>
      </div>
    </Page>
  );
}

export function SettingsSection() {
  const { section: key } = useParams({ from: "/signed-in/settings/$section" });
  const where = useOrganizationContext();
  const section = SECTIONS.find((candidate) => candidate.key === key);
  if (section === undefined) return <Empty title="Setting not found">Choose one from the list.</Empty>;
  // Nothing is asked before the role is known: what it does not allow would be refused.
  return (
    <Loaded query={where} what="Your role" height={300}>
      {({ role }) =>
        section.isFor(permissionsOf(role)) ? (
          <Suspense fallback={<Skeleton h={300} radius={14} aria-busy="true" />}>
            <section.page />
          </Suspense>
        ) : (
          <Empty title={section.title}>Only admins of the organization can see this. Ask an admin for access.</Empty>
        )
      }
    </Loaded>
  );
}

function SectionList() {
  const { section: here } = useParams({ strict: false });
  const permissions = usePermissions();
  const navigate = useNavigate();
  const shown = SECTIONS.filter((section) => section.isFor(permissions));
  return (
    <>
      <nav aria-label="Settings" className={classes.list}>
        {GROUPS.map((group) => (
          <div key={group}>
            <Text fz="xs" fw={600} c="dimmed" px={12} pb={4}>
              {group}
            </Text>
            {shown
              .filter((section) => section.group === group)
              .map((section) => (
                <Link
                  key={section.key}
                  to="/settings/$section"
                  params={{ section: section.key }}
                  className={classes.link}
                  data-here={section.key === here || undefined}
                  aria-current={section.key === here ? "page" : undefined}
                >
                  {section.title}
                </Link>
              ))}
          </div>
        ))}
      </nav>
      <Select
        className={classes.choice}
        aria-label="Settings section"
        allowDeselect={false}
        value={here ?? null}
        data={GROUPS.map((group) => ({
          group,
          items: shown
            .filter((section) => section.group === group)
            .map((section) => ({ value: section.key, label: section.title })),
        })).filter((group) => group.items.length > 0)}
        onChange={(key) => key !== null && void navigate({ to: "/settings/$section", params: { section: key } })}
      />
    </>
  );
}
