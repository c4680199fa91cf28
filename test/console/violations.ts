import axe from 'axe-core';
import type { Page } from 'playwright-core';

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What a person who cannot see, hear or point would stumble over. */
export async function violations(page: Page): Promise<string[]> {
  // Run by the browser itself, past the policy that keeps any script from elsewhere out of the page.
  await page.evaluate(axe.source);
  const options = JSON.stringify({ runOnly: { type: 'tag', values: RULES }, resultTypes: ['violations'] });
  const found = (await page.evaluate(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  )) as Violation[];
  return found.map(({ id, help, nodes }) => {
    const [first] = nodes;
    return `${id}: ${help}; ${nodes.length} places, such as ${first?.html} (${first?.failureSummary})`;
  });
}
