// Sends to and takes from a queue of ActiveMQ by JMS, as the lines of its input say; run as a single source
// file by `clients.py`, with ActiveMQ's own jars.
//
//     produce QUEUE COUNT    persistent messages, sent without waiting, until the broker has all of them
//     consume QUEUE COUNT    acknowledged automatically, prefetch 1,000
//
// Each line is answered by the seconds it took; connecting and making sessions are not counted.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import javax.jms.BytesMessage;
import javax.jms.Connection;
import javax.jms.DeliveryMode;
import javax.jms.JMSException;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Queue;
import javax.jms.Session;
import org.apache.activemq.ActiveMQConnectionFactory;

public final class JmsClient {
    private static final String OPTIONS = "?jms.useAsyncSend=true&jms.prefetchPolicy.queuePrefetch=1000"
            + "&jms.watchTopicAdvisories=false&jms.optimizeAcknowledge=%s";
    private static final int MESSAGE_BYTES = 200;
    private static final int PATIENCE_MS = 60_000;

    public static void main(String[] arguments) throws Exception {
        var options = String.format(OPTIONS, arguments.length > 1 ? arguments[1] : "false");
        var factory = new ActiveMQConnectionFactory("tcp://" + arguments[0] + options);
        var orders = new BufferedReader(new InputStreamReader(System.in));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            var words = order.split(" ");
            var connection = factory.createConnection();
            connection.start();
            try {
                System.out.println(obey(connection, words[0], words[1], Integer.parseInt(words[2])));
            } finally {
                connection.close();
            }
        }
    }

    private static double obey(Connection connection, String what, String name, int count) throws JMSException {
        var session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        var queue = session.createQueue(name);
        return what.equals("produce") ? produce(session, queue, count) : consume(session, queue, count);
    }

    private static double produce(Session session, Queue queue, int count) throws JMSException {
        MessageProducer producer = session.createProducer(queue);
        producer.setDeliveryMode(DeliveryMode.PERSISTENT);
        var body = new byte[MESSAGE_BYTES];
        Arrays.fill(body, (byte) 'x');
        long begun = System.nanoTime();
        for (int sent = 0; sent < count; sent++) {
            BytesMessage message = session.createBytesMessage();
            message.writeBytes(body);
            producer.send(message);
        }
        // Answered when all that came before on this connection is done.
        session.createTemporaryQueue();
        return seconds(begun);
    }

    private static double consume(Session session, Queue queue, int count) throws JMSException {
        long begun = System.nanoTime();
        MessageConsumer consumer = session.createConsumer(queue);
        for (int taken = 0; taken < count; taken++) {
            if (consumer.receive(PATIENCE_MS) == null) {
                throw new JMSException("only " + taken + " messages came");
            }
        }
        return seconds(begun);
    }

    private static double seconds(long begun) {
        return (System.nanoTime() - begun) / 1e9;
    }
}
