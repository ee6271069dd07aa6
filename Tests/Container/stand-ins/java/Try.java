import com.example.testing.EntrupySimContainer;

/** Starts the recipe's container on the stand-in of the library, and prints what it asked for and got. */
public class Try {
    public static void main(String[] arguments) throws Exception {
        try (EntrupySimContainer sim = new EntrupySimContainer("entrupy-sim")) {
            sim.start();
            System.out.println(sim.image + " " + sim.ports + " " + sim.command + " " + sim.environment);
            System.out.println(sim.getUrl());
            System.out.println(sim.namespace("java"));
            try {
                System.out.println("made " + sim.namespace("Not A Name"));
            } catch (java.io.IOException refused) {
                System.out.println(refused.getMessage());
            }
        }
    }
}
