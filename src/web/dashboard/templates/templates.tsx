import type { Template } from '../../../dashboard/templates/schema.ts'
import { FORMAT_NAMES } from '../../../words/templates.ts'
import { Icon } from '../../kit/icons.tsx'
import { Table } from '../../kit/table.tsx'
import { useLanguage } from '../../shared/language.ts'
import { Chips } from '../parts/chips.tsx'
import { Fold } from '../parts/fold.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { Split } from '../parts/panel.tsx'
import { GROUPS, groupOf } from '../parts/template-menu.tsx'
import { ButtonTo, goTo, hrefTo, Link } from '../route.tsx'
import { ForEditors } from '../session.tsx'
import { findNamed, useTemplates } from '../template-names.ts'
import { useClaimName } from '../verifications/claim-list.tsx'
import { useDashboardWords } from '../words.ts'
import { TemplateDetail } from './detail.tsx'
import { useTemplatesWords } from './words.ts'

export function Templates({ chosen }: { chosen: string }) {
  const words = useTemplatesWords()
  const templates = useTemplates()
  const template = findNamed(templates.value?.data, chosen)?.template
  const create = (
    <ForEditors>
      <ButtonTo kind="primary" href={hrefTo('template-editor')}>
        <Icon name="plus" />
        {words.create}
      </ButtonTo>
    </ForEditors>
  )
  return (
    <Page title={words.title} intro={words.intro} actions={create}>
      <Loaded data={templates}>
        {({ data }) => (
          <Split
            list={<Lists templates={data} chosen={template?.key} />}
            panel={
              template && (
                <TemplateDetail
                  key={template.key}
                  template={template}
                  onRemoved={() => {
                    goTo(hrefTo('templates'))
                    templates.reload()
                  }}
                />
              )
            }
          />
        )}
      </Loaded>
    </Page>
  )
}

function Lists({ templates, chosen }: { templates: readonly Template[]; chosen: string | undefined }) {
  const { templateGroups } = useDashboardWords()
  const [everyday = [], own = [], more = []] = GROUPS.map(group => templates.filter(each => groupOf(each) === group))
  return (
    <>
      {own.length > 0 && <h2 class="large">{templateGroups.own}</h2>}
      {own.length > 0 && <List title={templateGroups.own} templates={own} chosen={chosen} />}
      <h2 class="large">{templateGroups.everyday}</h2>
      <List title={templateGroups.everyday} templates={everyday} chosen={chosen} />
      <Fold title={templateGroups.more} holds={more.some(({ key }) => key === chosen)}>
        <List title={templateGroups.more} templates={more} chosen={chosen} />
      </Fold>
    </>
  )
}

type ListProps = { title: string; templates: readonly Template[]; chosen: string | undefined }

function List({ title, templates, chosen }: ListProps) {
  const words = useTemplatesWords()
  const language = useLanguage()
  const asked = useAsked()
  const { formats } = useDashboardWords()
  return (
    <Table
      caption={title}
      columns={[
        {
          title: words.name,
          cell: ({ key, localized }) => (
            <Link class="row-button" href={hrefTo(`templates/${encodeURIComponent(key)}`)}>
              {localized.title[language]}
            </Link>
          ),
        },
        { title: words.asks, kind: 'grows', folds: 'tablet', cell: asked },
        {
          title: formats,
          folds: 'tablet',
          cell: each => <Chips beside names={each.formats.map(format => FORMAT_NAMES[format])} />,
        },
      ]}
      rows={templates}
      keyOf={({ key }) => key}
      isChosen={({ key }) => key === chosen}
    />
  )
}

/** All claims of a template, in one line; nothing where its title says it. */
function useAsked(): (template: Template) => string {
  const words = useTemplatesWords()
  const name = useClaimName()
  return ({ builtin, age_over, asks }) => {
    const claims = [...new Set(asks.flatMap(each => each.claims))]
    if (builtin && claims.length === 1 && claims[0] === `age_over_${age_over}`) return ''
    return claims.length === 0 ? words.everything : [...new Set(claims.map(name))].join(', ')
  }
}
