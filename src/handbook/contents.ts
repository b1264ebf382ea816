// The pages of the handbook, in the order of the navigation. Each is a file inside the program, read when it is shown.
import alerts from './pages/alerts.md' with { type: 'file' }
import backupAndRestore from './pages/backup-and-restore.md' with { type: 'file' }
import benchmarks from './pages/benchmarks.md' with { type: 'file' }
import browserElement from './pages/browser-element.md' with { type: 'file' }
import commands from './pages/commands.md' with { type: 'file' }
import concepts from './pages/concepts.md' with { type: 'file' }
import configuration from './pages/configuration.md' with { type: 'file' }
import dashboardInGerman from './pages/dashboard.de.md' with { type: 'file' }
import dashboard from './pages/dashboard.md' with { type: 'file' }
import develop from './pages/develop.md' with { type: 'file' }
import doctor from './pages/doctor.md' with { type: 'file' }
import errors from './pages/errors.md' with { type: 'file' }
import evidence from './pages/evidence.md' with { type: 'file' }
import goingLive from './pages/going-live.md' with { type: 'file' }
import inPerson from './pages/in-person.md' with { type: 'file' }
import install from './pages/install.md' with { type: 'file' }
import logEvents from './pages/log-events.md' with { type: 'file' }
import metrics from './pages/metrics.md' with { type: 'file' }
import openidConnect from './pages/openid-connect.md' with { type: 'file' }
import pageErrors from './pages/page-errors.md' with { type: 'file' }
import postgres from './pages/postgres.md' with { type: 'file' }
import privacy from './pages/privacy.md' with { type: 'file' }
import recipeDigitalCredentials from './pages/recipes/digital-credentials.md' with { type: 'file' }
import recipeKeycloak from './pages/recipes/keycloak.md' with { type: 'file' }
import recipeLanVenue from './pages/recipes/lan-venue.md' with { type: 'file' }
import recipeOpenidClients from './pages/recipes/openid-clients.md' with { type: 'file' }
import recipePostgres from './pages/recipes/postgres.md' with { type: 'file' }
import recipeReverseProxy from './pages/recipes/reverse-proxy.md' with { type: 'file' }
import recipeShopify from './pages/recipes/shopify.md' with { type: 'file' }
import recipeVerifyAWebhook from './pages/recipes/verify-a-webhook.md' with { type: 'file' }
import recipeWoocommerce from './pages/recipes/woocommerce.md' with { type: 'file' }
import redirect from './pages/redirect.md' with { type: 'file' }
import retries from './pages/retries.md' with { type: 'file' }
import sdk from './pages/sdk.md' with { type: 'file' }
import security from './pages/security.md' with { type: 'file' }
import start from './pages/start.md' with { type: 'file' }
import templates from './pages/templates.md' with { type: 'file' }
import threats from './pages/threats.md' with { type: 'file' }
import tillInGerman from './pages/till.de.md' with { type: 'file' }
import till from './pages/till.md' with { type: 'file' }
import tills from './pages/tills.md' with { type: 'file' }
import tls from './pages/tls.md' with { type: 'file' }
import troubleshooting from './pages/troubleshooting.md' with { type: 'file' }
import trust from './pages/trust.md' with { type: 'file' }
import upgrade from './pages/upgrade.md' with { type: 'file' }
import verdict from './pages/verdict.md' with { type: 'file' }
import verifications from './pages/verifications.md' with { type: 'file' }
import wallets from './pages/wallets.md' with { type: 'file' }
import webhooks from './pages/webhooks.md' with { type: 'file' }

/** `slug` is the end of its address, and its name in "vidimus help"; `file` is read when it is shown, `german` to readers of German. */
type PageFile = { slug: string; file: string; german?: string }

export const GROUPS: readonly { title: string; pages: readonly PageFile[] }[] = [
  {
    title: 'Start',
    pages: [
      { slug: 'start', file: start },
      { slug: 'concepts', file: concepts },
    ],
  },
  {
    title: 'Developers',
    pages: [
      { slug: 'verifications', file: verifications },
      { slug: 'verdict', file: verdict },
      { slug: 'templates', file: templates },
      { slug: 'wallets', file: wallets },
      { slug: 'redirect', file: redirect },
      { slug: 'openid-connect', file: openidConnect },
      { slug: 'webhooks', file: webhooks },
      { slug: 'errors', file: errors },
      { slug: 'retries', file: retries },
      { slug: 'sdk', file: sdk },
      { slug: 'tills', file: tills },
      { slug: 'browser-element', file: browserElement },
    ],
  },
  {
    title: 'Merchants and staff',
    pages: [
      { slug: 'till', file: till, german: tillInGerman },
      { slug: 'in-person', file: inPerson },
      { slug: 'dashboard', file: dashboard, german: dashboardInGerman },
      { slug: 'page-errors', file: pageErrors },
      { slug: 'going-live', file: goingLive },
      { slug: 'trust', file: trust },
      { slug: 'privacy', file: privacy },
    ],
  },
  {
    title: 'Operators',
    pages: [
      { slug: 'install', file: install },
      { slug: 'configuration', file: configuration },
      { slug: 'commands', file: commands },
      { slug: 'tls', file: tls },
      { slug: 'backup-and-restore', file: backupAndRestore },
      { slug: 'upgrade', file: upgrade },
      { slug: 'postgres', file: postgres },
      { slug: 'alerts', file: alerts },
      { slug: 'metrics', file: metrics },
      { slug: 'log-events', file: logEvents },
      { slug: 'doctor', file: doctor },
      { slug: 'troubleshooting', file: troubleshooting },
    ],
  },
  {
    title: 'Reviewers and contributors',
    pages: [
      { slug: 'security', file: security },
      { slug: 'threats', file: threats },
      { slug: 'evidence', file: evidence },
      { slug: 'benchmarks', file: benchmarks },
      { slug: 'develop', file: develop },
    ],
  },
  {
    title: 'Recipes',
    pages: [
      { slug: 'recipes/woocommerce', file: recipeWoocommerce },
      { slug: 'recipes/shopify', file: recipeShopify },
      { slug: 'recipes/digital-credentials', file: recipeDigitalCredentials },
      { slug: 'recipes/keycloak', file: recipeKeycloak },
      { slug: 'recipes/openid-clients', file: recipeOpenidClients },
      { slug: 'recipes/lan-venue', file: recipeLanVenue },
      { slug: 'recipes/verify-a-webhook', file: recipeVerifyAWebhook },
      { slug: 'recipes/reverse-proxy', file: recipeReverseProxy },
      { slug: 'recipes/postgres', file: recipePostgres },
    ],
  },
]

export const PAGES: readonly PageFile[] = GROUPS.flatMap(({ pages }) => pages)
