<?php
// Obeys one JSON order per line, and answers each with a line.
declare(strict_types=1);

use Vidimus\{Vidimus, VidimusError, Webhook, WebhookError};

foreach (['VidimusError', 'Vidimus', 'WebhookError', 'Webhook'] as $name) {
    require getenv('CLIENT_DIR') . "/src/$name.php";
}

/** JSON has no word for them. */
const SECONDS = ['nan' => NAN, 'inf' => INF, '-1' => -1.0];
$number = fn($given) => is_string($given) ? SECONDS[$given] ?? $given : $given;

while (($line = fgets(STDIN)) !== false) {
    $order = json_decode($line, true);
    try {
        if ($order['call'] === 'verify_webhook') {
            $given = array_map($number, array_intersect_key($order, array_flip(['tolerance', 'now'])));
            $result = Webhook::verify(base64_decode($order['payload']), $order['header'], $order['secret'], ...$given)['verification']['id'];
        } else {
            $limit = array_map($number, array_intersect_key($order, ['timeout' => true]));
            $result = (new Vidimus($order['base_url'], $order['api_key'], ...$limit))->{$order['call']}(...array_map($number, $order['with']));
        }
    } catch (VidimusError $error) {
        $result = ['failed' => $error->errorCode, 'status' => $error->status, 'maybe_done' => $error->maybeDone];
    } catch (WebhookError $error) {
        $result = ['failed' => $error->errorCode];
    } catch (InvalidArgumentException $error) {
        $result = ['failed' => 'wrong_call'];
    }
    echo json_encode($result), "\n";
}
