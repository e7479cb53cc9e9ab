BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #
 #

BBBBB BBBBBXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
   gettext(u'Every GPU by rack, pool, model or cluster: who has it, how hot it is, and what is wrong.') 
  BB BBB
    XXXXXXX XXXXXXX pgettext(u'page title', u'Fleet') X XXXXXX XX
    XXXXXXX XXXXXXX pgettext(u'spoken label', u'Capacity') XX
      XXXXXX XXXXXXXXXXXXXXXXX
         pgettext(u'tab', u'Free now') 
      XXXXXXXX
      XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXX
         pgettext(u'tab', u'Fleet') 
      XXXXXXXX
      XXXXXX XXXXXXXXXXXXX
         pgettext(u'tab', u'GPUs') 
      XXXXXXXX
      XXXXXX XXXXXXXXXXXXXX
         pgettext(u'tab', u'Nodes') 
      XXXXXXXX
    XXXXXXXXX
  BBBB
    XXXXXXX XXXXXXX pgettext(u'page title', u'Fleet') X XXXXXX XX
  BBBBB
  XXXX XXXXXXXXXXXXXX
    BB BBBB BB BBBBBBBB
      XXXX XXXXXXXXXXXX BB BBBBXXXXX XXXXBBBBBXX
        BB BBBB
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBB
        BBBBB
        XXXXXXXX XXXXXXX pgettext(u'heading', u'Problems') X
                 XXXXXXXFFFFFFX
                 XXXXXXXXX
                 XXXXXXXXXXXXXXXXXXXXXXX
          BB BBBBBBBB
            XXX XXXXXXXXXXXXXXXXX
              BBB BBB BB BBBBBBBB
                XXXX
                  XXXX XXXXXXXXXX XXXXXXXXX
                    XX XXXXXXXXXXXX
                       XXXXXXXXXXXXXFFFFFFFFFFFFXXXXXXXXXFFFFFFFFFFFFXXXXXX
                    XXXXXXXX XXXXX XXXXXXXX XX
                  XXXXXX
                  BB BBBBBBBXX XXXXXXXXXXXX XXXXXXXFFFFFFFFFFXXXXBBBBB
                XXXXX
              BBBBBB
            XXXXX
          BBBB
            XX XXXXXXXXXXX XXXXX XXXXXXX gettext(u'No node is out of service, and no check finds anything.') XXXX
          BBBBB
        XXXXXXXXXX
      XXXXXX
    BBBBB
    XXXX XXXXXXXXXX XXXXXX
         XXXXXXXXXXX
         XXXXXXXXXXXX pgettext(u'spoken label', u'Group by') XX
      BBB BBBB BBBBBB BBB BB BBBBBB
        XX XXXXXXXXXXXX
           XXXXXXX
           BB BBB BB BBXXXXXXXXXXXXXXXXXXXBBBBBXFFFFFFFFFFXXXX
      BBBBBB
    XXXXXX
    BB BBBB
      XXXX XXXXXXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXX XXXXXX
          XXXXXXX
            XXXX
              XXXXFFFFFFFFFFXXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'GPUs') XXXXX
              XXXX pgettext(u'column', u'Utilization') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'SM activity') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Memory used') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column, electricity', u'Power') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Temperature') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Hottest') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Throttled') XXXXX
            XXXXX
          XXXXXXXX
          XXXXXXX
            BBB BBB BB BBBB
              XXXX
                XXX XXXXXXXXXXXXX
                  BB BBBBBBBBB BBB BBBBBBBB
                    XX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXX
                  BBBB
                    XXXXXXX
                  BBBBB
                  BB BBBBBBBB
                    XXXXX XXXXXXXXXXXXXXXX XXXXXXXX
                       pgettext(u'value', u'%(n)s not responding') 
                        SSSSS SSS SSSSSSSSSS
                      
                    XXXXXXX
                  BBBB BBBBBBBBBBBBBBBBBB
                    XXXXX XXXXXXXXXXXX XXXXXXXX
                       pgettext(u'value', u'%(n)s out of service') 
                        SSSSS SSS SS SSSSSSS
                      
                    XXXXXXX
                  BBBBB
                XXXXX
                XXX XXXXXXXXXX XXXXXXX
                    XXXXXXXXXXXX pgettext(u'column', u'GPUs') XX
                  FFFFFFFFFFFFFFFF
                  BB BBBBBBBBBBBB B BBBBBBBB
                    XXXXX XXXXXXXXXXXXXX
                       pgettext(u'value', u'%(n)s measured') 
                        SSSSS SSSSSSSS
                      
                    XXXXXXX
                  BBBBB
                XXXXX
                XXX XXXXXXXXXXX
                    XXXXXXXXXXXX pgettext(u'column', u'Utilization') XX
                  BB BBBBBBBBBBBBBBB BB BBB BBBB
                    XXXXXXXXX XXXXXXX
                              XXXXXXXFFFFFFFFFFFFFFFFFX
                              XXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                    XXXXXXFFFFFFFFFFFFFFXXXXXXX
                  BBBB
                    XXXXX XXXXXXXXXXXXXXXXXXXXXX
                  BBBBB
                XXXXX
                XXX XXXXXXXXXX XXXXXX XXXXXX
                  BB BBBBBBBBBBBBB BB BBB BBBB
                    FFFFFFFFFFFFFF
                  BBBB
                    XXXXX XXXXXXXXXXXXXXXXXXXXXX
                  BBBBB
                XXXXX
                XXX XXXXXXXXXX XXXXXX XXXXXX
                  BB BBBBBBBBBBBBBBB BB BBB BBBB
                    FFFFFFFFFFFFFF
                  BBBB
                    XXXXX XXXXXXXXXXXXXXXXXXXXXX
                  BBBBB
                XXXXX
                XXX XXXXXXXXXX XXXXXXX
                    XXXXXXXXXXXX pgettext(u'column, electricity', u'Power') XX
                  BB BBBBBBBBB BB BBB BBBB
                    FFFFFFFFFFFF
                  BBBB
                    XXXXX XXXXXXXXXXXXXXXXXXXXXX
                  BBBBB
                XXXXX
                XXX XXXXXXXXXX XXXXXX XXXXXX
                  BB BBBBBBBBBBBBBBB BB BBB BBBB
                    FFFFFFFFFFFFF XX
                  BBBB
                    XXXXX XXXXXXXXXXXXXXXXXXXXXX
                  BBBBB
                XXXXX
                XXX XXXXXXXXXX XXXXXXX
                    XXXXXXXXXXXX pgettext(u'column', u'Hottest') XX
                  BB BBBBBBBBBBB BB BBB BBBB
                    FFFFFFFFFFFFF XX
                  BBBB
                    XXXXX XXXXXXXXXXXXXXXXXXXXXX
                  BBBBB
                XXXXX
                XXX XXXXXXXXXX XXXXXX
                  BB BBBBBBBBBBBBB
                    BB BBBBBBBBB BBB BBBBBBBB
                      XX XXXXXXXXXXXXXXXXX
                         XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                    BBBB
                      XXXXX XXXXXXXXXXXXXXXXXXXXXXXXX
                    BBBBB
                  BBBB
                    XXXXX XXXXXXXXXXXXXXXXXXXXXX
                  BBBBB
                XXXXX
              XXXXX
            BBBBBB
          XXXXXXXX
        XXXXXXXX
      XXXXXX
      BB BBBBBBBB BB BBBB
        XXXX XXXXXXXXXXXXX
             XXXXXXXXXXXX pgettext(u'spoken label', u'Pages') XX
          XXXXX XXXXXXXXXXXX XXXXXXX
             pgettext(u'navigation', u'%(first)s–%(last)s of %(n)s') 
              SSSSSSSSSSSSSSSSSS SS SSSSS
            
          XXXXXXX
          XXXXX XXXXXXXXXXXXXXXXXXXXXX
          BB BBBBBBBB
            XX XXXXXXXXXX XXXXXX XXXXXXXXXX XXXXXXXX pgettext(u'button', u'Previous') XXXX
          BBBBB
          BB BBBB
            XX XXXXXXXXXX XXXXXX XXXXXXXXXX XXXXXXXX pgettext(u'button', u'Next') XXXX
          BBBBB
        XXXXXX
      BBBBB
    BBBB BB BB BBBBBB
      XXXXXXXX XXXXXXX pgettext(u'empty list', u'No racks known') XX
         gettext(u'Give the nodes the label rack in their scheduler, and they are grouped here.') 
      XXXXXXXXXX
    BBBB BB BB BBBBBB
      XXXXXXXX XXXXXXX pgettext(u'empty list', u'No pools') XX
         gettext(u'No pool that you can see has GPUs with measurements.') 
      XXXXXXXXXX
    BBBB
      XXXXXXXX XXXXXXX pgettext(u'empty list', u'No GPUs yet') X
               XXXXXXXXXXXXXXXXXXXXX XXX XXXXXXXXXXXX XXXXXXX
         gettext(u'Run the agent on a node with GPUs: they appear with its first report.') 
      XXXXXXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
BBBBB BBBBBBB
  BB BBBB
    XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBBBXXXXXXXXXXX
  BBBBB
BBBBBBBB
