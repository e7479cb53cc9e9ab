BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
   gettext(u'Where GPU measurements come from if no agent runs on the nodes: dcgm-exporters, or a Prometheus that scrapes them.') 
  XXXXXXX XXXXXXX pgettext(u'page title', u'Telemetry') X
          XXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBBBBBBBB BBB BBBBBBBB
        XXXXXXXXX XXXXXXXXXXXXXXXXXXX
                  XXXXXXX pgettext(u'field', u'Add source') X XX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBBB
      XXXX XXXXXXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXX XXXXXX
          XXXXXXX
            XXXX
              XXXX pgettext(u'column', u'Source') XXXXX
              XXXX pgettext(u'column', u'State') XXXXX
              XXXX pgettext(u'column', u'Cluster') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Nodes') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Values') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Last read') XXXXX
            XXXXX
          XXXXXXXX
          XXXXXXX
            BBB BBB BB BBBB
              XXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                XXX XXXXXXXXXXXXX
                  XX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                  XXXXX XXXXXXXXXXXX XXXXXXXX
                    BB BBBBBBBB BB BBBBBB
                      XXXXXXXXXXXXX
                    BBBB
                      XXXXXXXXXX
                    BBBBB
                  XXXXXXX
                XXXXX
                XXXX
                  XXXXXXXX XXXXXXXXXXX XXXXXXXX XX
                XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Cluster') XXXXXXX
                XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Nodes') XXXXXXX
                XXX XXXXXXXXXXX
                    XXXXXXXXXXXX pgettext(u'column', u'Values') XXFFFFFFFFFFFFFFFFXXXXX
                XXX XXXXXXXXXX XXXXXXX
                    XXXXXXXXXXXX pgettext(u'column', u'Last read') XX
                  BB BBBBBBBBBBB
                    FFF
                  BBBB
                    XXXXX XXXXXXXXXXXXXXXXXXXXXX
                  BBBBB
                XXXXX
              XXXXX
            BBBBBB
          XXXXXXXX
        XXXXXXXX
      XXXXXX
    BBBB
      XXXXXXXX XXXXXXX gettext(u'No telemetry sources') XX
         gettext(u'Nodes with muster-agent need none. Add dcgm-exporters or a Prometheus that you already run.') 
        BB BBBBBBBBB BBB BBB BBBBBBBB
           gettext(u'Connect a cluster first: measurements belong to its nodes.') 
        BBBBB
        XXXXXXX XXXXXXXXXXXXXXX
          BB BBBBBBBBB BBB BBBBBBBB
            XXXXXXXXX XXXXXXXXXXXXXXXXXXX
                      XXXXXXX pgettext(u'field', u'Add source') X XX
          BBBB BBBBBBBBB
            XX XXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Clusters') XXXX
          BBBBB
        XXXXXXXXX
      XXXXXXXXXX
    BBBBB
  XXXXXX
  BB BBBBBBBBB BBB BBBBBBBB
    XXXXXXXXXXXXXX XXXXXXXXXXXXXXX
                   XXXXXXX pgettext(u'heading', u'Add a source') X
                   XXXXXXXXXXXX
                   XXXXXXXXXXXXXX
                   XXXXXXXX pgettext(u'button', u'Add source') X
                   XXXXXXXXX
      XXXXXXX XXXXXXXXXXXXXXX
        XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXX pgettext(u'button', u'Test') XXXXXXXXX
      XXXXXXXXX
      XXXX XXXXXXXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Name') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXX
                 XXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXXXXXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Cluster') XX
          XXXXXXX XXXXXXXXXXXXXXX
            BBB B BB BBBBBBBB
              XXXXXXX XXXXXXXX
                      BB BBBBBB BB BBBBBBBBBBBBBXXXXXXXXBBBBBXXXXXXXXXX
            BBBBBB
          XXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field, type', u'Kind') XX
          XXXXXXX XXXXXXXXXXXX
            XXXXXXX XXXXXXXXXXXX BB BBBBBBBBBB BB BBBBBBXXXXXXXXBBBBBXXXXXXXXXXXXXXXXXXXXXXX
            XXXXXXX XXXXXXXXXXXXXXXXXX
                    BB BBBBBBBBBB BB BBBBBBBBBBBBXXXXXXXXBBBBBXXXXXXXXXXXXXXXXXXXX
          XXXXXXXXX
        XXXXXXXXXX
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
      XXXXXX
      BB BBBBBB
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
      BBBBB
    XXXXXXXXXXXXXXXX
  BBBBB
BBBBBBBB
