BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
   gettext(u'GPUs that a job could get right now. CPU, memory and quotas can still limit a job.') 
  XXXXXXX XXXXXXX pgettext(u'page title', u'Capacity') X
          XXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBB BBB BBBB
        XX XXXXXXXXXXX
           XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Request GPUs') XXXX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  BB BBB
    XXXXXXX XXXXXXX pgettext(u'spoken label', u'Capacity') XX
      XXXXXX XXXXXXXXXXXXXXXX XXXXXXXXXXXX
         pgettext(u'tab', u'Free now') 
      XXXXXXXX
      XXXXXX XXXXXXXXXXXXXX
         pgettext(u'tab', u'Fleet') 
      XXXXXXXX
      XXXXXX XXXXXXXXXXXXX
         pgettext(u'tab', u'GPUs') 
      XXXXXXXX
      XXXXXX XXXXXXXXXXXXXX
         pgettext(u'tab', u'Nodes') 
      XXXXXXXX
    XXXXXXXXX
  BBBBB
  BB BBBB
    XXXX XXXXXXXXXXXXXX
      XXXX XXXXXXXXXXXX XXXXXXXXXXXXX
        BBB B BB BBBBBB
          XXXXXXXXX
            XXXXXXX XXXXXXXFFFFFFFFX XXXXXXXFFFFFFFFFFFFFFFFXX
              XXXXX XXXXXXXXXXXXXXXXXX
                 pgettext(u'text, monitoring', u'free of %(n)s') 
                  SSSS SS SSSSS
                
              XXXXXXX
              XXXXX XXXXXXXXXXXXXX
                BB BBBBBBBBBB
                   gettext(u"Shares of GPUs; they don't add to the GPUs.") 
                BBBB BBB BBBBBBBBB
                   gettext(u'No job fits now.') 
                BBBB BBBBBBB B B
                  BBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBB
                     gettext(u'Largest job now: %(gpus)s GPUs on %(nodes)s nodes, %(one)s on one node') 
                      SSSSSSS SSS SSSS SSSSSSSS SSSS SS SSSSSSSSS SSSSSS SSSSSSS SS SSS SSSS
                    
                  BBBBBBB
                BBBB
                   ngettext(u'Largest job now: 1 GPU', u'Largest job now: %(n)s GPUs on one node', count) 
                    SSSSSSS SSS SSSS S SSS
                  
                    PPPPPPP PPP PPPP PPPPP PPPP PP PPP PPPP
                  
                BBBBB
              XXXXXXX
            XXXXXXXXX
          XXXXXXXXXX
        BBBBBB
      XXXXXX
      XXXX XXXXXXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXXXX
          XXXXXXX
            XXXX
              XXXX pgettext(u'column, of a GPU', u'Model') XXXXX
              XXXX gettext(u'Cluster and pool') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column, not in use', u'Free') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Allocated') XXXXX
              XXX XXXXXXXXXXX
                  XXXXXXX gettext(u'Free, but kept for single teams') XX pgettext(u'column', u'Reserved') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Out of service') XXXXX
              XXX XXXXXXXXXXXX gettext(u'Largest job on one node') XXXXX
              XXXX gettext(u'Nodes by free GPUs') XXXXX
              BB BBBBBBBB
                XXX XXXXXXX gettext(u'When running jobs reach their time limit') XX
                   pgettext(u'column', u'Free next') 
                XXXXX
              BBBBB
              XXX XXXXXXXXXXX
                  XXXXXXX gettext(u'Share of the free GPUs that are on partly used nodes') XX
                 pgettext(u'column', u'Fragmentation') 
              XXXXX
            XXXXX
          XXXXXXXX
          XXXXXXX
            BBB BBB BB BBBB
              XXXX
                XXX XXXXXXXXXXX XXXXXXXX
                  XXXFFFFFFFFXXXX
                XXXXX
                XXX XXXXXXXXXXXXX
                  BB BBBBBBBBBBBBBBBBB
                    XX XXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                  BBBB
                    
                  BBBBB
                  BB BBBBBBBB
                    XXXXX XXXXXXXXXXXXXXXXXXXXXX
                    BB BBB
                      XX XXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX
                    BBBB
                      
                    BBBBB
                  BBBBB
                XXXXX
                XXX XXXXXXXXXX XXXXXXX
                    XXXXXXXXXXXX pgettext(u'column, not in use', u'Free') XX
                  XXXFFFFFFFFFFFFFFFFXXXX
                  XXXXX XXXXXXXXXXXXXXX FFFFFFFFFFFFFFFFXXXXXXX
                XXXXX
                XXX XXXXXXXXXX XXXXXXFFFFFFFFFFFFFFFFXXXXX
                XXX XXXXXXXXXX BB BBB BBBBBBBBBBBBBBBBBXXXXBBBBBX
                    XXXXXXXXXXXX pgettext(u'column', u'Reserved') XXFFFFFFFFFFFFFFFFXXXXX
                XXX XXXXXXXXXX XXXXXX
                  XXXXX XXXXXXXBBB BBBBBBB B BB BBBBBBB X FFFFFFFFFFBB BBB BBBBBBBBBBBBX BBBBBBBBBBBXX
                    FFFFFFFFFFFFFFFF
                  XXXXXXX
                  BB BBBBBBBBBBBB
                    BBB BBBBBBB B BB BBBBBBBBBBBBBBBBBB
                      XXXXX XXXXXXXXXXXX XXXX XXXXXXXXXXXXFFFFFFFFFFXXXXXXX
                    BBBBBB
                  BBBBB
                  BB BBBBBBBBBBBBB
                    XXXXX XXXXXXXXXXXXXXXX XXXXXXXX
                       pgettext(u'value', u'%(n)s not responding') 
                        SSSSS SSS SSSSSSSSSS
                      
                    XXXXXXX
                  BBBBB
                XXXXX
                XXX XXXXXXXXXX XXXXXX XXXXX
                    XXXXXXXXXXXX gettext(u'Largest job on one node') XX
                  BB BBBBBBBBBBBBBBBB
                    BB BBBBBBBBBBBB
                       npgettext(u'number of things', u'%(n)s share', u'%(n)s shares',count) 
                        SSSSS SSSSS
                      
                        PPPPP PPPPPP
                      
                    BBBB
                       npgettext(u'number of things', u'%(n)s GPU', u'%(n)s GPUs',count) 
                        SSSSS SSS
                      
                        PPPPP PPPP
                      
                    BBBBB
                  BBBB
                    XXXXX XXXXXXXXXXXXXX pgettext(u'value', u'none') XXXXXXX
                  BBBBB
                XXXXX
                XXX XXXXXXXXXXX XXXXXXX
                  BBB BBBBB BBBBB BB BBBBBBBBBBBBBB
                    XXXXX XXXXXXXXXXXXXXXFFFFFFFFFFFFFFFF X XXXXXXXBB BBB BBBBBBBBBBBBXBBBBB
                  BBBBB
                    X
                  BBBBBB
                XXXXX
                BB BBBBBBBB
                  XXX XXXXXXXXXXXX pgettext(u'column', u'Free next') XX
                    BBB BBB B BB BBBBBBBBBBBBBBBBBBB
                      XXXXX XXXXXXXXXXXXXXX
                        XXXXXXX FFFBB BBB BBBBBBBBBBBBXBBBBB
                      XXXXXXX
                    BBBBB
                      XXXXX XXXXXXXXXXXXXXXXXXXXXX
                    BBBBBB
                  XXXXX
                BBBBB
                XXX XXXXXXXXXX XXXXXX XXXXXX
                  BB BBBBBBBBBBBBB
                    BBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
                       pgettext(u'name of a value', u'(%(n)s GPUs)') 
                        SSSSSS SSSSS
                      
                      XXXXX XXXXXXXBB BBB BBBBBBBBBBBBBBBBBXX
                        FFFFFFFFFFFFFF
                      XXXXXXX
                    BBBBBBB
                  BBBB
                    XXXXX XXXXXXXXXXXXXXXXXXXXXX
                  BBBBB
                XXXXX
              XXXXX
            BBBBBB
          XXXXXXXX
        XXXXXXXX
      XXXXXX
      BBB BBBB BB BBBBBBBBBBB
        XX XXXXXXXXXXXXXX
          XXXFFFFFFFFXXXXX FFFFFFFFFF
        XXXX
      BBBBBB
      XX XXXXXXXXXXXX XXXXXXX
         gettext(u'“3 × 8” means three nodes with eight free GPUs each.') 
        BB BBBBBBBBBBBBBBBBBBB
           gettext(u"A node can belong to several pools, so pools don't add up to the cluster.") 
        BBBBB
      XXXX
    XXXXXX
  BBBB
    XXXXXXXX XXXXXXX pgettext(u'empty list', u'No GPUs yet') X
             XXXXXXXXXXXXXXX XXXXXXX XXXXXX
      BB BBBBBBBBBBBB
         gettext(u'None of the connected clusters has reported a GPU.') 
      BBBB
         gettext(u'Connect a cluster to see its free GPUs here.') 
      BBBBB
      XXXXXXX XXXXXXXXXXXXXXX
        BB BBBBBBBBBBBBBBBBB
          XX XXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Clusters') XXXX
        BBBBB
      XXXXXXXXX
    XXXXXXXXXX
  BBBBB
BBBBBBBB
