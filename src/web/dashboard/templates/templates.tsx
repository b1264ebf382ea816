import type { Template } from '../../../dashboard/templates/schema.ts'
import { FORMAT_NAMES } from '../../../words/templates.ts'
import { Icon } from '../../kit/icons.tsx'
import { Table } from '../../kit/table.tsx'
import { useLanguage } from '../../shared/language.ts'
import { Chips } from '../parts/chips.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { Split } from '../parts/panel.tsx'
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
  const words = useTemplatesWords()
  const own = templates.filter(each => !each.builtin)
  return (
    <>
      {own.length > 0 && <List title={words.own} templates={own} chosen={chosen} />}
      <List title={words.builtin} templates={templates.filter(each => each.builtin)} chosen={chosen} />
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
    <section class="stack tight">
      <h2 class="large">{title}</h2>
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
          { title: words.key, folds: 'tablet', cell: ({ key }) => <code>{key}</code> },
        ]}
        rows={templates}
        keyOf={({ key }) => key}
        isChosen={({ key }) => key === chosen}
      />
    </section>
  )
}

/** All claims of a template, in one line. */
function useAsked(): (template: Template) => string {
  const words = useTemplatesWords()
  const name = useClaimName()
  return ({ asks }) => {
    const claims = [...new Set(asks.flatMap(each => each.claims))]
    return claims.length === 0 ? words.everything : [...new Set(claims.map(name))].join(', ')
  }
}
